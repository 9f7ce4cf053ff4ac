// Failures that other DCCP stacks have shown between the application and a connection: buffers,
// queues, sizes, figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

#include "tests/conformance/counting_ccid.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::SizeIs;

std::span<const std::byte> Text(std::string_view text) { return std::as_bytes(std::span(text)); }

// Acknowledges the newest 64 packets, or all since the initial number.
void AckAll(WirePeer& peer) {
  const auto run = static_cast<std::uint8_t>(std::min<std::uint64_t>(peer.gss() - kIss, 63));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, run}));
}

// A caller's buffer is filled as far as it goes, a reservation is the room that there is.
TEST(Bugs, Bug_C19_C36_ACallersBufferIsTheLimit) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 3; ++i) peer.Inject(Data(peer.Next(), "data"));
  std::array<ReceivedDatagram, 3> datagrams = {};
  EXPECT_EQ(peer.endpoint().Read(peer.conn(), {}), 0u);
  EXPECT_EQ(peer.endpoint().Read(peer.conn(), std::span(datagrams).first(1)), 1u);
  EXPECT_EQ(datagrams[0].bytes.size(), 4u);
  EXPECT_EQ(datagrams[1].bytes.data(), nullptr);
  EXPECT_EQ(peer.endpoint().Read(peer.conn(), datagrams), 2u);
  EXPECT_EQ(datagrams[2].bytes.data(), nullptr);
  peer.Take();

  const Result<std::span<std::byte>> room = peer.endpoint().ReserveSend(peer.conn(), 10);
  ASSERT_TRUE(room.ok());
  EXPECT_EQ(room->size(), 10u);
  EXPECT_EQ(peer.endpoint().CommitSend(peer.conn(), 11).error(), Error::kInvalidArgument);
  std::fill(room->begin(), room->end(), std::byte{'x'});
  EXPECT_TRUE(peer.endpoint().CommitSend(peer.conn(), 3).ok());
  EXPECT_FALSE(peer.endpoint().CommitSend(peer.conn(), 3).ok()) << "committed already";
  std::array<OutboundDatagram, 2> out = {};
  EXPECT_EQ(peer.endpoint().Transmit({}, peer.now()), 0u);
  EXPECT_EQ(peer.endpoint().Transmit(std::span(out).first(1), peer.now()), 1u);
  EXPECT_EQ(out[1].bytes.data(), nullptr);
}

// A datagram is handed out whole: its length is the true one, and none is cut.
TEST(Bugs, Bug_C20_ADatagramHasItsTrueLength) {
  WirePeer peer;
  peer.OpenAsServer();
  const std::array<std::size_t, 5> sizes = {12, 0, 1, 1400, 60'000};
  for (const std::size_t size : sizes) peer.Inject(Data(peer.Next(), std::string(size, 'x')));
  for (const std::size_t size : sizes) {
    std::array<ReceivedDatagram, 1> datagram;
    ASSERT_EQ(peer.endpoint().Read(peer.conn(), datagram), 1u);
    EXPECT_EQ(datagram[0].bytes.size(), size);
  }
}

TEST(Bugs, Bug_C21_AListOfAsManyCcidsAsThereCanBe) {
  std::vector<std::unique_ptr<CountingCcid>> ccids;
  CcidRegistry registry;
  WirePeerConfig config = WithRegistry(registry);
  for (std::size_t i = 0; i < CcidRegistry::kCapacity; ++i) {
    const auto id = static_cast<CcidId>(i == 0 ? 2 : 200 + i);
    ccids.push_back(std::make_unique<CountingCcid>(id));
    EXPECT_TRUE(registry.Add(*ccids.back()));
    config.options.tx_ccids.push_back(id);
  }
  const CountingCcid one_more(kOtherCcid);
  EXPECT_FALSE(registry.Add(one_more));
  EXPECT_EQ(registry.all().size(), CcidRegistry::kCapacity);
  WirePeer peer(config);
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(), HasOption(OptionType::kChangeL,
                                        AllOf(SizeIs(1 + CcidRegistry::kCapacity), Contains(215))));
}

// Room is looked for when the datagram joins the queue, whatever happened since the reservation.
TEST(Bugs, Bug_C23_AReservationHoldsNoPlaceInTheQueue) {
  WirePeerConfig config;
  config.options.keep_alive = seconds(1);
  config.options.send_queue_datagrams = 1;
  WirePeer peer(config);
  peer.OpenAsServer();
  while (peer.Info().send_queue_datagrams == 0) ASSERT_TRUE(peer.Send("data").ok());
  AckAll(peer);
  // A reservation and a Send share the one buffer: the Send wins.
  ASSERT_TRUE(peer.endpoint().ReserveSend(peer.conn(), 10).ok());
  while (peer.Info().send_queue_datagrams == 0) ASSERT_TRUE(peer.Send("data").ok());
  EXPECT_EQ(peer.endpoint().CommitSend(peer.conn(), 10).error(), Error::kInvalidArgument);
  EXPECT_EQ(peer.Send("no room").error(), Error::kQueueFull);
  EXPECT_EQ(peer.Info().send_queue_datagrams, 1u);
  peer.TakeEvents();
  AckAll(peer);
  EXPECT_NE(peer.TakeEvents() & kEventWritable, 0u);
}

TEST(Bugs, Bug_C23_AFullQueueKeepsItsLimitUnderEveryPolicy) {
  for (const QueuePolicy policy :
       {QueuePolicy::kRejectNewest, QueuePolicy::kDropOldest, QueuePolicy::kDropLowestPriority}) {
    WirePeerConfig config;
    config.options.send_queue_datagrams = 3;
    config.options.queue_policy = policy;
    WirePeer peer(config);
    peer.ClientInRequest();
    std::size_t taken = 0;
    for (std::uint8_t i = 0; i < 10; ++i) {
      SendOptions options;
      options.priority = i;
      const std::string text(1, static_cast<char>('0' + i));
      taken += peer.endpoint().Send(peer.conn(), Text(text), options).ok() ? 1u : 0u;
      EXPECT_LE(peer.Info().send_queue_datagrams, 3u);
    }
    EXPECT_EQ(taken, policy == QueuePolicy::kRejectNewest ? 3u : 10u);
    EXPECT_EQ(peer.Info().counters.queue_drops, taken - 3);
  }
}

TEST(Bugs, Bug_C24_AnEmptyDatagramIsADatagram) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(peer.Send("").ok());
    peer.Inject(Data(peer.Next(), ""));
    peer.Inject(DataAck(peer.Next(), peer.gss(), ""));
    AckAll(peer);
    peer.Advance(seconds(1));
  }
  std::size_t data = 0;
  for (const SentPacket& packet : peer.Take()) {
    EXPECT_EQ(packet.payload, "");
    data += packet.type == PacketType::kData || packet.type == PacketType::kDataAck ? 1u : 0u;
  }
  EXPECT_EQ(data, 40u);
  const auto read = peer.Read();
  EXPECT_THAT(read, AllOf(SizeIs(80), Each("")));
  EXPECT_EQ(peer.Info().counters.data_bytes_received, 0u);
  EXPECT_GE(peer.Info().sender.cwnd_packets, 1.0);
}

TEST(Bugs, Cve_2013_1827_AskingBeforeThereIsACcid) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  const ConnectionInfo info = peer.Info();
  EXPECT_EQ(info.sender.cwnd_packets, 0.0);
  EXPECT_EQ(info.receiver.packets, 0u);
  EXPECT_EQ(info.rtt, Duration::zero());
  for (unsigned feature = 0; feature < 256; ++feature) {
    for (const bool here : {true, false})
      EXPECT_TRUE(
          peer.endpoint().Feature(peer.conn(), static_cast<FeatureNumber>(feature), here).ok());
  }
  EXPECT_TRUE(peer.endpoint().SetSlowReceiver(peer.conn(), true).ok());
  EXPECT_TRUE(peer.endpoint().SetSlowReceiver(peer.conn(), false).ok());
  EXPECT_GT(peer.endpoint().SendRoom(peer.conn(), 10), 0u);
  peer.Icmp(IcmpKind::kTooBig, peer.BuildPacket(Request(kIss)), 600);
  EXPECT_TRUE(peer.endpoint().StopReading(peer.conn()).ok());
  EXPECT_TRUE(peer.Send("early").ok());
  peer.Inject(Response(5000, request.seq).With(ConfirmsFor(request)));
  EXPECT_THAT(peer.Take(), Contains(HasPayload("early")));
}

// The maximum packet size has one owner: what a call checks against it holds when the packet
// leaves.
TEST(Bugs, Cve_2023_53839_TheSizeThatIsCheckedIsTheSizeThatHolds) {
  WirePeer peer;
  peer.OpenAsServer();
  const std::uint32_t before = peer.Info().mps_bytes;
  ASSERT_TRUE(peer.Send("probe").ok());
  const Bytes quoted = peer.TakeOne().bytes;
  ASSERT_TRUE(peer.endpoint().ReserveSend(peer.conn(), before).ok());
  peer.TakeEvents();
  constexpr std::uint32_t kMtu = 1000;
  peer.Icmp(IcmpKind::kTooBig, quoted, kMtu);
  EXPECT_NE(peer.TakeEvents() & kEventMpsChanged, 0u);
  const std::uint32_t after = peer.Info().mps_bytes;
  EXPECT_LT(after, kMtu);
  EXPECT_EQ(peer.endpoint().CommitSend(peer.conn(), before).error(), Error::kMessageTooLarge);
  EXPECT_TRUE(peer.endpoint().CommitSend(peer.conn(), after).ok()) << "it may be shortened";
  EXPECT_EQ(peer.Send(std::string(after + 1, 'x')).error(), Error::kMessageTooLarge);
  EXPECT_TRUE(peer.Send(std::string(after, 'x')).ok());
  AckAll(peer);
  peer.Advance(seconds(1));
  std::size_t full = 0;
  for (const SentPacket& packet : peer.Take()) {
    EXPECT_LE(packet.bytes.size() + 28, kMtu);
    full += packet.payload.size() == after ? 1u : 0u;
  }
  EXPECT_EQ(full, 2u);
}

}  // namespace
}  // namespace dccp::peer
