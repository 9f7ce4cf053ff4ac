// Failures of other stacks in the life of connections, their handles and their memory.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kOtherPort = 50001;

// The packets of a second peer host that differs in its port.
class TwoPeers : public ::testing::Test {
 protected:
  void InjectOther(const PacketSpec& spec) {
    peer_.InjectRaw(Build(spec, kOtherPort, WirePeer::kEndpointPort, nullptr));
  }
  // Both are accepted by one listener; the endpoint's handles of the first and the second.
  void OpenBoth() {
    peer_.OpenAsServer();
    first_ = peer_.conn();
    InjectOther(Request(8000));
    const SentPacket response = peer_.TakeOne();
    InjectOther(Ack(8001, response.seq).With(ConfirmsFor(response)));
    second_ = peer_.conn();
    ASSERT_NE(first_, second_);
    peer_.Take();
  }
  Result<void> SendOn(ConnId conn, std::string_view data) {
    const auto sent = peer_.endpoint().Send(conn, std::as_bytes(std::span(data)));
    peer_.Advance(Duration::zero());
    return sent;
  }

  WirePeer peer_;
  ConnId first_, second_;
};

TEST_F(TwoPeers, Bug_C12_Cve_2017_9076_Cve_2020_16119_AcceptedConnectionsShareNothing) {
  OpenBoth();
  const double window = peer_.endpoint().Info(second_)->sender.cwnd_packets;
  // The first grows its window and then loses a packet.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(SendOn(first_, "x").ok());
  peer_.Inject(Ack(peer_.Next(), peer_.Take().back().seq).With({38, 3, 2}));
  const double grown = peer_.endpoint().Info(first_)->sender.cwnd_packets;
  EXPECT_GT(grown, window);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(SendOn(first_, "x").ok());
  peer_.Inject(Ack(peer_.Next(), peer_.Take().back().seq).With({38, 4, 2, 0xC0}));
  ASSERT_EQ(peer_.endpoint().Info(first_)->counters.data_packets_lost, 1u);
  EXPECT_LT(peer_.endpoint().Info(first_)->sender.cwnd_packets, grown);
  EXPECT_EQ(peer_.endpoint().Info(second_)->sender.cwnd_packets, window);
  // Nor does the end of one take anything from the other.
  peer_.endpoint().Release(first_, peer_.now());
  peer_.Advance(seconds(1));
  peer_.Take();
  ASSERT_TRUE(SendOn(second_, "still").ok());
  EXPECT_THAT(peer_.Take(), Contains(HasPayload("still")));
}

TEST_F(TwoPeers, Cve_2020_16119_AListenerMayGoAndComeWhileItsConnectionsLive) {
  ListenParams params;
  params.port = WirePeer::kEndpointPort;
  params.options.initial_sequence = SeqNo(kIss);
  for (int round = 0; round < 3; ++round) {
    const ListenerId listener = peer_.endpoint().Listen(params).value();
    const auto base = 8000 + 100 * static_cast<std::uint64_t>(round);
    InjectOther(Request(base));
    const SentPacket response = peer_.TakeOne();
    InjectOther(Ack(base + 1, response.seq).With(ConfirmsFor(response)));
    const ConnId conn = peer_.conn();
    peer_.Take();
    ASSERT_TRUE(peer_.endpoint().StopListening(listener).ok());
    ASSERT_TRUE(SendOn(conn, "alive").ok());
    EXPECT_THAT(peer_.Take(), Contains(HasPayload("alive")));
    ASSERT_TRUE(peer_.endpoint().Abort(conn, peer_.now()).ok());
    peer_.Advance(Duration::zero());
    EXPECT_THAT(peer_.Take(), ElementsAre(IsReset(_, _, 2)));
  }
}

TEST(Handles, Bug_B19_Cve_2018_1130_NothingIsSentOnAConnectionThatIsOver) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  // The features fail on the Response: a Confirm of a CCID that nobody offered.
  peer.Inject(Response(5000, request.seq).With({35, 5, 1, 9, 9, 33, 5, 1, 9, 9, 1, 32, 4, 50, 1}));
  EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kReset)));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_NE(peer.TakeEvents() & kEventClosed, 0u);
  EXPECT_FALSE(peer.Send("x").ok());
  EXPECT_FALSE(peer.endpoint().ReserveSend(peer.conn(), 1).ok());
  EXPECT_EQ(peer.endpoint().SendRoom(peer.conn(), 1), 0u);
  EXPECT_EQ(peer.Close().error(), Error::kNotConnected);
  EXPECT_EQ(peer.Abort().error(), Error::kNotConnected);
  peer.Advance(seconds(100));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(Handles, Cve_2019_20096_Bug_G5_WishesThatCannotBeMetLeaveNothingBehind) {
  WirePeerConfig config;
  config.adjust = [](EndpointConfig& endpoint) { endpoint.max_connections = 2; };
  WirePeer peer(config);
  ConnectParams bad;
  bad.path = peer.path();
  bad.remote_port = WirePeer::kPeerPort;
  bad.options.tx_ccids = {static_cast<CcidId>(9)};
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(peer.endpoint().Connect(bad, peer.now()).error(), Error::kUnsupportedCcid);
  bad.options = {};
  bad.options.sequence_window = 31;
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(peer.endpoint().Connect(bad, peer.now()).error(), Error::kInvalidArgument);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(), IsRequest(kIss));
}

TEST(Application, Bug_C17_AServerMaySpeakFirst) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("welcome").ok());
  EXPECT_THAT(peer.Take(), ElementsAre(HasPayload("welcome")));
  // And the timers of its data run: without acknowledgement it is not silent for ever.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(peer.Send("more").ok());
  peer.Take();
  peer.Advance(seconds(20));
  EXPECT_THAT(peer.Take(), Contains(HasPayload("more")));
}

TEST(Application, Bug_G2_AFullQueueRefusesAndTellsWhenThereIsRoom) {
  WirePeerConfig config;
  config.options.send_queue_datagrams = 5;
  WirePeer peer(config);
  peer.OpenAsServer();
  int taken = 0;
  while (peer.Send("x").ok()) ++taken;
  EXPECT_EQ(peer.Send("x").error(), Error::kQueueFull);
  EXPECT_EQ(peer.endpoint().SendRoom(peer.conn(), 1), 0u);
  // The window and five that wait.
  EXPECT_EQ(peer.Info().send_queue_datagrams, 5u);
  EXPECT_EQ(static_cast<std::size_t>(taken), peer.Take().size() + 5);
  peer.TakeEvents();
  const auto run = static_cast<std::uint8_t>(peer.gss() - kIss);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, run}));
  EXPECT_NE(peer.TakeEvents() & kEventWritable, 0u);
  EXPECT_GT(peer.endpoint().SendRoom(peer.conn(), 1), 0u);
}

}  // namespace
}  // namespace dccp::peer
