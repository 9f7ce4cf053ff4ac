// Failures that other DCCP stacks have shown around the life of a connection: handles, owners, what
// is left armed.

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "tests/conformance/counting_ccid.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::minutes;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::span<const std::byte> Text(std::string_view text) { return std::as_bytes(std::span(text)); }

// Every call that could use a connection fails and sends nothing.
void ExpectUnusable(WirePeer& peer, ConnId conn) {
  Endpoint& endpoint = peer.endpoint();
  EXPECT_FALSE(endpoint.Send(conn, Text("x")).ok());
  EXPECT_FALSE(endpoint.ReserveSend(conn, 1).ok());
  EXPECT_FALSE(endpoint.CommitSend(conn, 1).ok());
  EXPECT_EQ(endpoint.SendRoom(conn, 1), 0u);
  EXPECT_FALSE(endpoint.Close(conn, peer.now()).ok());
  EXPECT_FALSE(endpoint.Abort(conn, peer.now()).ok());
  peer.Advance(minutes(20));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

// The CCID that both ends wanted was not agreed on, and the initial one is not there.
TEST(Bugs, Bug_B19_AConnectionWithoutACcidIsNotOpen) {
  const CountingCcid other(kOtherCcid);
  CcidRegistry registry;
  ASSERT_TRUE(registry.Add(other));
  const Octets nothing = {};
  const Octets only_ours = {35, 5, 1, 250, 250};
  const Octets only_theirs = {33, 5, 1, 250, 250};
  for (const Octets& confirms : {nothing, only_ours, only_theirs}) {
    WirePeer peer(WithRegistry(registry));
    peer.ClientInRequest();
    peer.Inject(Response(5000, kIss).With(confirms));
    EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kReset)));
    EXPECT_EQ(peer.state(), State::kClosed);
    const std::uint32_t events = peer.TakeEvents();
    EXPECT_EQ(events & kEventConnected, 0u);
    EXPECT_NE(events & kEventClosed, 0u);
    EXPECT_EQ(peer.Info().close.by, ClosedBy::kProtocol);
    ExpectUnusable(peer, peer.conn());
  }
  WirePeer peer(WithRegistry(registry));
  peer.OpenAsClient();
  EXPECT_EQ(peer.Info().tx_ccid, kOtherCcid);
}

TEST(Bugs, Bug_C4_AbortDropsTheQueueAndFreesTheTuple) {
  WirePeer peer;
  peer.OpenAsClient();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(peer.Send("data").ok());
  ASSERT_GT(peer.Info().send_queue_datagrams, 0u);
  peer.Take();
  ASSERT_TRUE(peer.Abort().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, _, 2)));
  EXPECT_EQ(peer.Info().state, State::kClosed);
  EXPECT_EQ(peer.Info().send_queue_datagrams, 0u);
  EXPECT_FALSE(peer.Info().close.clean);
  EXPECT_EQ(peer.endpoint().NextTimeout(), kNever);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  // No TIMEWAIT: the same ports serve again at once, and nothing of the old connection remains.
  peer.OpenAsClient();
  EXPECT_TRUE(peer.Send("data").ok());
}

// Every state that has something armed, left by Release or Abort.
const std::vector<std::function<void(WirePeer&)>>& ArmedStates() {
  static const std::vector<std::function<void(WirePeer&)>> kStates = {
      [](WirePeer& peer) { peer.ClientInRequest(); },
      [](WirePeer& peer) { peer.ClientInPartOpen(); },
      [](WirePeer& peer) { peer.OpenAsClient(); },
      [](WirePeer& peer) {  // the retransmission timer, and a queue behind a full window
        peer.OpenAsClient();
        for (int i = 0; i < 20; ++i) EXPECT_TRUE(peer.Send("data").ok());
      },
      [](WirePeer& peer) {  // the delayed acknowledgement, unread data
        peer.OpenAsClient();
        peer.Inject(Data(peer.Next(), "data"));
      },
      [](WirePeer& peer) {
        peer.OpenAsClient();
        EXPECT_TRUE(peer.Close().ok());
      },
      [](WirePeer& peer) {  // Close waits for the queue
        peer.OpenAsClient();
        for (int i = 0; i < 20; ++i) EXPECT_TRUE(peer.Send("data").ok());
        EXPECT_TRUE(peer.Close().ok());
      },
  };
  return kStates;
}

TEST(Bugs, Bug_C11_AHandleUsedAfterItsConnectionIsAnError) {
  for (const auto& reach : ArmedStates()) {
    WirePeer peer;
    reach(peer);
    const ConnId old = peer.conn();
    if (peer.Info().state <= State::kOpen) {
      EXPECT_TRUE(peer.Abort().ok() || peer.Info().state == State::kClosed);
    }
    peer.endpoint().Release(old, peer.now());
    peer.Advance(Duration::zero());
    peer.Take();
    EXPECT_FALSE(peer.endpoint().Info(old).ok());
    EXPECT_FALSE(peer.endpoint().Feature(old, FeatureNumber::kCcid, true).ok());
    std::array<ReceivedDatagram, 4> datagrams;
    EXPECT_EQ(peer.endpoint().Read(old, datagrams), 0u);
    EXPECT_FALSE(peer.endpoint().StopReading(old).ok());
    peer.endpoint().SetUserData(old, 7);
    EXPECT_EQ(peer.endpoint().UserData(old), 0u);
    peer.endpoint().Release(old, peer.now());
    // Whatever takes its place is not reached by the old handle.
    WirePeer& same = peer;
    ConnectParams params;
    params.path = same.path();
    params.remote_port = 9;
    const Result<ConnId> next = same.endpoint().Connect(params, same.now());
    ASSERT_TRUE(next.ok());
    EXPECT_FALSE(*next == old);
    EXPECT_FALSE(same.endpoint().Abort(old, same.now()).ok());
    EXPECT_EQ(same.endpoint().Info(*next)->state, State::kRequest);
  }
}

TEST(Bugs, Cve_2017_8824_WhatWasArmedDoesNotReachTheNextConnection) {
  for (const auto& reach : ArmedStates()) {
    WirePeer peer;
    reach(peer);
    const bool ended_already = !peer.Abort().ok();
    EXPECT_FALSE(ended_already);
    peer.Take();
    peer.TakeEvents();
    // The same ports, as a client and then as a server.
    peer.OpenAsClient();
    EXPECT_EQ(peer.Info().counters.data_packets_sent, 0u);
    EXPECT_THAT(peer.Read(), IsEmpty());
    peer.Advance(minutes(20));
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_EQ(peer.state(), State::kOpen);
    ASSERT_TRUE(peer.Abort().ok());
    peer.Take();
    peer.OpenAsServer();
    ASSERT_TRUE(peer.Send("served").ok());
    EXPECT_THAT(peer.Take(), ElementsAre(HasPayload("served")));
  }
}

TEST(Bugs, Cve_2017_9076_AnAcceptedConnectionOutlivesItsListener) {
  for (const bool listener_first : {true, false}) {
    WirePeerConfig config;
    config.family = IpFamily::kV6;
    WirePeer peer(config);
    Result<ListenerId> listener = Error::kBadState;
    {
      ListenParams params;
      params.port = WirePeer::kEndpointPort;
      params.service_codes = {ServiceCode(1), ServiceCode(2)};
      params.local = peer.path().local;
      params.options.initial_sequence = SeqNo(kIss);
      params.options.send_queue_datagrams = 3;
      listener = peer.endpoint().Listen(params);
    }
    ASSERT_TRUE(listener.ok());
    peer.Inject(Request(5000).Service(2));
    const SentPacket response = peer.TakeOne();
    peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
    peer.Take();
    if (listener_first) {
      EXPECT_TRUE(peer.endpoint().StopListening(*listener).ok());
    }
    EXPECT_EQ(peer.Info().service_code, ServiceCode(2));
    EXPECT_EQ(peer.endpoint().SendRoom(peer.conn(), 10), 3u);
    EXPECT_TRUE(peer.Send("data").ok());
    EXPECT_TRUE(peer.Abort().ok());
    peer.endpoint().Release(peer.conn(), peer.now());
    if (!listener_first) {
      EXPECT_TRUE(peer.endpoint().StopListening(*listener).ok());
    }
    peer.Advance(minutes(10));
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  }
}

TEST(Bugs, Cve_2011_1093_CloseAndResetAfterTheEnd) {
  for (const bool remote_end : {false, true}) {
    WirePeer peer;
    peer.OpenAsClient();
    if (remote_end) {
      peer.Inject(Reset(peer.Next(), peer.gss(), 1));
    } else {
      ASSERT_TRUE(peer.Abort().ok());
    }
    peer.Take();
    peer.TakeEvents();
    const CloseReason before = peer.Info().close;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t seq = peer.Next();
      peer.Inject(Close(seq, peer.gss()));
      EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, seq, 3)));
      peer.Inject(Reset(peer.Next(), peer.gss(), 1));
      EXPECT_THAT(peer.Take(), IsEmpty());
    }
    EXPECT_EQ(peer.TakeEvents(), 0u);
    EXPECT_EQ(peer.Info().close.by, before.by);
    EXPECT_EQ(peer.Info().close.reset, before.reset);
  }
}

// A Request's data is owned by the connection that it made, however that ends. With so little
// memory a leak of one in fifty would be felt.
TEST(Bugs, Cve_2017_6074_TheDataOfARequestHasOneOwner) {
  WirePeerConfig config;
  config.family = IpFamily::kV6;
  config.fixed_iss = false;
  config.adjust = [](EndpointConfig& endpoint) { endpoint.memory_bytes = 256u << 10; };
  WirePeer peer(config);
  ListenParams params;
  params.port = WirePeer::kEndpointPort;
  for (int i = 0; i < 5000; ++i) {
    const Result<ListenerId> listener = peer.endpoint().Listen(params);
    ASSERT_TRUE(listener.ok());
    peer.Inject(Request(5000).Payload(std::string(1000, 'x')));
    const SentPacket response = peer.TakeOne();
    ASSERT_EQ(response.type, PacketType::kResponse) << i;
    switch (i % 4) {
      case 0:  // forgotten half-open
        break;
      case 1:  // released with its data unread
        peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
        peer.endpoint().Release(peer.conn(), peer.now());
        break;
      case 2:  // read, then released
        peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
        EXPECT_EQ(peer.Read().size(), 1u);
        peer.endpoint().Release(peer.conn(), peer.now());
        break;
      default:  // ended by the peer
        peer.Inject(Reset(5001, response.seq, 2));
        break;
    }
    peer.Advance(Duration::zero());
    peer.Take();
    ASSERT_TRUE(peer.endpoint().StopListening(*listener).ok());
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u) << i;
    peer.Advance(minutes(9));  // past TIMEWAIT
  }
  EXPECT_EQ(peer.Dropped(DropReason::kNoBuffers), 0u);
  EXPECT_EQ(peer.Dropped(DropReason::kReceiveQueueFull), 0u);
}

TEST(Bugs, Cve_2018_1130_SendingOnAClosedConnection) {
  const std::vector<std::function<void(WirePeer&)>> ends = {
      [](WirePeer& peer) { EXPECT_TRUE(peer.Abort().ok()); },
      [](WirePeer& peer) { peer.Inject(Reset(peer.Next(), peer.gss(), 2)); },
      [](WirePeer& peer) { peer.Inject(Close(peer.Next(), peer.gss())); },
      [](WirePeer& peer) {
        EXPECT_TRUE(peer.Close().ok());
        peer.Inject(Reset(peer.Next(), peer.gss(), 1));
      },
      [](WirePeer& peer) {
        EXPECT_TRUE(peer.Close().ok());
        peer.Advance(minutes(20));
      },
  };
  for (const auto& end : ends) {
    WirePeer peer;
    peer.OpenAsServer();
    ASSERT_TRUE(peer.endpoint().ReserveSend(peer.conn(), 10).ok());
    end(peer);
    peer.Take();
    EXPECT_FALSE(peer.endpoint().CommitSend(peer.conn(), 10).ok());
    ExpectUnusable(peer, peer.conn());
    peer.endpoint().Release(peer.conn(), peer.now());
    ExpectUnusable(peer, peer.conn());
  }
}

// Both Acks reach the half-open connection at one moment.
TEST(Bugs, Cve_62f8f4d9066c_TwoAcksOpenOneConnectionOnce) {
  for (const std::uint64_t second : {5001u, 5002u}) {
    const CountingCcid ccid(CcidId::k2);
    CcidRegistry registry;
    ASSERT_TRUE(registry.Add(ccid));
    WirePeer peer(WithRegistry(registry));
    peer.Listen();
    peer.Inject(Request(5000));
    const SentPacket response = peer.TakeOne();
    const Bytes one = peer.BuildPacket(Ack(5001, response.seq).With(ConfirmsFor(response)));
    const Bytes two = peer.BuildPacket(Ack(second, response.seq).With(ConfirmsFor(response)));
    const std::array<InboundDatagram, 2> batch = {InboundDatagram{one, 0, peer.path()},
                                                  InboundDatagram{two, 0, peer.path()}};
    peer.endpoint().Receive(batch, peer.now());
    std::size_t accepted = 0;
    ConnId conn;
    while (const auto event = peer.endpoint().PollEvent()) {
      accepted += (event->bits & kEventAccepted) != 0 ? 1u : 0u;
      conn = event->conn;
    }
    EXPECT_EQ(accepted, 1u);
    EXPECT_EQ(peer.endpoint().counters().connections_accepted, 1u);
    EXPECT_EQ(ccid.senders, 1);
    EXPECT_EQ(ccid.receivers, 1);
    EXPECT_EQ(peer.endpoint().Info(conn)->state, State::kOpen);
    EXPECT_TRUE(peer.endpoint().Send(conn, Text("data")).ok());
  }
}

}  // namespace
}  // namespace dccp::peer
