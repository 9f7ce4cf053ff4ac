// Timers, events and transmission across connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EndpointSchedule, NextTimeoutDrivesTheRequestRepetition) {
  HostPair pair;
  Endpoint& a = *pair.a.endpoint;
  EXPECT_EQ(a.NextTimeout(), kNever);
  EXPECT_FALSE(a.WantsTransmit(pair.now));
  pair.Connect();
  EXPECT_TRUE(a.WantsTransmit(pair.now));
  EXPECT_THAT(pair.a.Sent(pair.now), SizeIs(1));
  EXPECT_FALSE(a.WantsTransmit(pair.now));
  const TimePoint next = a.NextTimeout();
  ASSERT_GT(next, pair.now);
  a.HandleTimeout(next - Duration(1));
  EXPECT_THAT(pair.a.Sent(next - Duration(1)), IsEmpty());
  a.HandleTimeout(next);
  EXPECT_THAT(pair.a.Sent(next), SizeIs(1));
  EXPECT_GT(a.NextTimeout(), next);
}

TEST(EndpointSchedule, TransmitFillsWhatItIsGivenAndGoesOn) {
  HostPair pair;
  for (int i = 0; i < 5; ++i) pair.Connect();
  std::array<OutboundDatagram, 2> out;
  EXPECT_EQ(pair.a.endpoint->Transmit(out, pair.now), 2u);
  EXPECT_TRUE(pair.a.endpoint->WantsTransmit(pair.now));
  EXPECT_EQ(pair.a.endpoint->Transmit(out, pair.now), 2u);
  EXPECT_EQ(pair.a.endpoint->Transmit(out, pair.now), 1u);
  EXPECT_EQ(pair.a.endpoint->Transmit(out, pair.now), 0u);
  EXPECT_EQ(pair.a.endpoint->counters().packets_sent, 5u);
}

TEST(EndpointSchedule, EventsOfOneConnectionAreCoalesced) {
  HostPair pair;
  pair.Establish();
  const Bytes data(10);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pair.a.endpoint->Send(pair.conn_a, data).ok());
    pair.Exchange();
  }
  ASSERT_TRUE(pair.a.endpoint->Abort(pair.conn_a, pair.now).ok());
  pair.Exchange();
  const std::vector<Event> events = pair.b.Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].conn, pair.conn_b);
  EXPECT_EQ(events[0].bits, std::uint32_t{kEventReadable | kEventClosed});
  EXPECT_EQ(events[0].listener, ListenerId());
}

// Large windows are open on all of them: each gets a quantum in turn, and runs stay together.
TEST(EndpointSchedule, ConnectionsTakeTurnsInRuns) {
  constexpr int kConnections = 4;
  constexpr std::uint32_t kQueued = 150;
  HostPair pair;
  ASSERT_TRUE(pair.Listen().ok());
  std::vector<ConnId> conns;
  ConnectParams params = pair.Params();
  params.options.sequence_window = 10'000;
  for (int i = 0; i < kConnections; ++i)
    conns.push_back(*pair.a.endpoint->Connect(params, pair.now));
  pair.Exchange();
  const Bytes data(100);
  const auto fill = [&](std::uint32_t n) {
    for (const ConnId conn : conns)
      for (std::uint32_t i = 0; i < n; ++i) ASSERT_TRUE(pair.a.endpoint->Send(conn, data).ok());
  };
  for (int round = 0; round < 10; ++round) {  // lets the windows grow, 10 ms a round trip
    fill(kQueued);
    for (int i = 0; i < 20; ++i) {
      for (const bool from_a : {true, false}) {
        for (const SentDatagram& sent : (from_a ? pair.a : pair.b).Sent(pair.now))
          (from_a ? pair.b : pair.a).Receive(sent.bytes, Reverse(sent.path), pair.now);
        pair.Advance(milliseconds(5));
      }
    }
    for (const Event& event : pair.b.Events()) {
      std::array<ReceivedDatagram, 256> out;
      while (pair.b.endpoint->Read(event.conn, out) != 0) {
      }
    }
  }
  fill(kQueued);
  std::vector<std::pair<std::uint16_t, int>> runs;  // source port, packets
  for (const SentDatagram& sent : pair.a.Sent(pair.now)) {
    const std::uint16_t port = sent.view().source_port();
    if (runs.empty() || runs.back().first != port) runs.push_back({port, 0});
    ++runs.back().second;
  }
  ASSERT_GE(runs.size(), static_cast<std::size_t>(2 * kConnections));
  std::map<std::uint16_t, int> turns;
  for (std::size_t i = 0; i < kConnections; ++i) {
    EXPECT_GE(runs[i].second, 64) << i;
    EXPECT_LE(runs[i].second, 66) << i;
    ++turns[runs[i].first];
  }
  EXPECT_EQ(turns.size(), static_cast<std::size_t>(kConnections));
}

TEST(EndpointSchedule, ReserveAndCommitSendWithoutACopy) {
  HostPair pair;
  pair.Establish();
  Endpoint& a = *pair.a.endpoint;
  const Result<std::span<std::byte>> room = a.ReserveSend(pair.conn_a, 100);
  ASSERT_TRUE(room.ok());
  std::fill(room->begin(), room->end(), std::byte{9});
  ASSERT_TRUE(a.CommitSend(pair.conn_a, 60).ok());
  EXPECT_TRUE(a.WantsTransmit(pair.now));
  pair.Exchange();
  std::array<ReceivedDatagram, 4> out;
  ASSERT_EQ(pair.b.endpoint->Read(pair.conn_b, out), 1u);
  EXPECT_EQ(out[0].bytes.size(), 60u);
  EXPECT_EQ(out[0].bytes[59], std::byte{9});
}

TEST(EndpointSchedule, R6773_ICMP_01_ErrorsReachTheConnectionTheyQuote) {
  HostPair pair;
  const ConnId conn = pair.Connect();
  const ConnId other = pair.Connect();
  const std::vector<SentDatagram> sent = pair.a.Sent(pair.now);
  ASSERT_THAT(sent, SizeIs(2));
  pair.a.Events();
  IcmpError error;
  error.kind = IcmpKind::kPortUnreachable;
  error.path = pair.path;
  error.quoted = std::span(sent[0].bytes).first(2);  // no ports, no connection
  pair.a.endpoint->OnIcmp(error, pair.now);
  EXPECT_EQ(pair.a.endpoint->ActiveConnections(), 2u);
  error.quoted = sent[0].bytes;
  pair.a.endpoint->OnIcmp(error, pair.now);
  EXPECT_EQ(pair.a.endpoint->Info(conn)->close.by, ClosedBy::kUnreachable);
  EXPECT_EQ(pair.a.endpoint->Info(other)->state, State::kRequest);
  const std::vector<Event> events = pair.a.Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].conn, conn);
}

TEST(EndpointSchedule, InitialMtuComesFromTheDriver) {
  class Narrow final : public PathMtuSource {
   public:
    std::uint32_t InitialMtu(const Path& /*path*/) override { return 1280; }
  };
  Narrow narrow;
  HostPair pair(Encapsulation::kUdp, [&](EndpointConfig& c) { c.mtu = &narrow; });
  pair.Establish();
  HostPair wide;
  wide.Establish();
  EXPECT_EQ(
      wide.a.endpoint->Info(wide.conn_a)->mps_bytes - pair.a.endpoint->Info(pair.conn_a)->mps_bytes,
      220u);
}

TEST(EndpointSchedule, TheResetThatEndsAConnectionIsNotOvertakenByARefusal) {
  HostPair pair;
  pair.Establish();
  ASSERT_TRUE(pair.a.endpoint->Close(pair.conn_a, pair.now).ok());
  std::vector<SentDatagram> closes = pair.a.Sent(pair.now);
  pair.now += seconds(1);
  pair.a.endpoint->HandleTimeout(pair.now);
  for (const SentDatagram& again : pair.a.Sent(pair.now)) closes.push_back(again);
  ASSERT_GE(closes.size(), 2u);
  // Both are there before the peer gets to send anything.
  for (const SentDatagram& close : closes)
    pair.b.Receive(close.bytes, Reverse(close.path), pair.now);
  const std::vector<SentDatagram> resets = pair.b.Sent(pair.now);
  ASSERT_GE(resets.size(), 2u);
  EXPECT_EQ(resets[0].view().reset_reason().code, ResetCode::kClosed);
  EXPECT_EQ(resets[1].view().reset_reason().code, ResetCode::kNoConnection);
}

TEST(EndpointSchedule, CountDropCounts) {
  TestHost host;
  host.endpoint->CountDrop(DropReason::kNotForUs);
  EXPECT_EQ(host.dropped(DropReason::kNotForUs), 1u);
}

}  // namespace
}  // namespace dccp
