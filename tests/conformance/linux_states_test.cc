// What Linux 6.1.192 does in each state, in its own packets, and how an endpoint stays well with
// it: repeated packets, Syncs, closes and refusals. RFC 4340 §8

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/linux_capture.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Packets = std::vector<LinuxPacket>;

// Our server open with the Linux client of a conversation.
void OpenWithLinuxClient(WirePeer& peer, const Packets& packets) {
  peer.Listen();
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kRequest, true)));
  peer.Take();
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kAck, true)));
  ASSERT_EQ(peer.state(), State::kOpen);
}

// Our client in PARTOPEN with the Linux server of a conversation.
void ReachPartOpenWithLinuxServer(WirePeer& peer, const Packets& packets) {
  peer.Connect();
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kResponse, false), peer.gss()));
  ASSERT_EQ(peer.state(), State::kPartOpen);
}

// A Linux server in RESPOND answers a Sync with Reset(Packet Error) and forgets the connection. So
// nothing of what it sends in RESPOND may draw one.
TEST(LinuxServer, R4340_LNX_06_LNX_07_NothingThatItSendsInRespondDrawsASync) {
  const Packets fatal = LinuxConversation("server-sync-in-respond");
  EXPECT_EQ(fatal[fatal.size() - 2].type, PacketType::kSync);
  EXPECT_EQ(Decoded(fatal.back()).reset.code, ResetCode::kPacketError);

  const Packets packets = LinuxConversation("server-unacknowledged");
  WirePeer peer(AsClientOf(packets));
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  Duration last = Duration::zero();
  for (const LinuxPacket& packet : packets) {
    if (packet.from_client) continue;
    peer.Advance(packet.at - last);
    last = packet.at;
    peer.InjectRaw(ToWirePeer(packet));
    EXPECT_THAT(peer.Take(), AllOf(Not(IsEmpty()), Each(HasType(PacketType::kAck))));
  }
  // Copies, late ones too, and a router's complaint about our Ack.
  for (auto packet = packets.rbegin(); packet != packets.rend(); ++packet) {
    if (!packet->from_client) peer.InjectRaw(ToWirePeer(*packet));
  }
  ASSERT_TRUE(peer.Send("data").ok());
  const SentPacket data = peer.Take().back();
  peer.Icmp(IcmpKind::kTooBig, data.bytes, 1300);
  EXPECT_THAT(peer.Take(), Each(HasType(PacketType::kAck)));
  EXPECT_EQ(peer.state(), State::kPartOpen);
  EXPECT_EQ(peer.Info().counters.syncs_sent, 0u);
}

// 0, 3, 9 and 21 s, the number one up each time, with a new Timestamp.
TEST(LinuxClient, R4340_LNX_16_LNX_30_EachOfItsRepeatedRequestsIsAnswered) {
  const Packets packets = LinuxConversation("client-silent-server");
  ASSERT_THAT(packets, SizeIs(4));
  WirePeerConfig config;
  config.options.initial_sequence = SeqNo(kIss);
  WirePeer peer(config);
  peer.Listen();
  Duration last = Duration::zero();
  std::uint64_t seq = kIss;
  for (const LinuxPacket& packet : packets) {
    peer.Advance(packet.at - last);
    last = packet.at;
    EXPECT_THAT(peer.Take(), IsEmpty()) << "a Response is not repeated by timer";
    peer.InjectRaw(ToWirePeer(packet));
    EXPECT_THAT(peer.Take(),
                ElementsAre(IsResponse(seq++, packet.seq,
                                       HasOption(OptionType::kTimestampEcho,
                                                 OptionData(packet, OptionType::kTimestamp)))));
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
  }
}

// Its Close goes out again after 3, 9, 21 ... s. Should our Reset be lost, each of them is answered
// by a Reset that fits its numbers, and it gives up at the first that arrives.
TEST(LinuxClient, R4340_LNX_16_ItsRepeatedClosesAreEachAnswered) {
  const Packets packets = LinuxConversation("client-close-unanswered");
  WirePeer peer(AsServerOf(packets));
  OpenWithLinuxClient(peer, packets);
  peer.Take();
  bool first = true;
  std::size_t closes = 0;
  for (const LinuxPacket& packet : packets) {
    if (packet.type != PacketType::kClose) continue;
    ++closes;
    peer.InjectRaw(ToWirePeer(packet));
    const ResetCode code = first ? ResetCode::kClosed : ResetCode::kNoConnection;
    const SentPacket reset = peer.TakeOne();
    EXPECT_THAT(reset, IsReset(_, packet.seq, static_cast<int>(code)));
    EXPECT_GT(reset.seq, *packet.ack);
    first = false;
  }
  EXPECT_GE(closes, 5u);
  // A server holds no TIMEWAIT: the client may come back from the same port at once.
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kRequest, true)));
  EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kResponse)));
}

// Only Data, DataAck and Ack take a Linux client out of PARTOPEN, and it sends its own Ack once.
TEST(LinuxClient, R4340_LNX_17_AServerWithoutDataSendsAnAck) {
  const Packets packets = LinuxConversation("client-partopen");
  WirePeer peer(AsServerOf(packets));
  OpenWithLinuxClient(peer, packets);
  const LinuxPacket& ack = FirstOf(packets, PacketType::kAck, true);
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(*ack.ack + 1, ack.seq)));
  // Were that Ack lost, the client would still be in PARTOPEN when it sends data four seconds
  // later.
  const LinuxPacket& data = FirstOf(packets, PacketType::kDataAck, true);
  EXPECT_EQ(data.ack, ack.ack);
  peer.Advance(data.at - ack.at);
  peer.InjectRaw(ToWirePeer(data));
  peer.Advance(milliseconds(200));
  EXPECT_THAT(peer.Take(), Contains(IsAck(_, data.seq)));
  EXPECT_THAT(peer.Read(), ElementsAre("hello"));
}

// In REQUEST it takes a Reset with any number, so ours must at least be right: they are, byte for
// byte, what a Linux server sends.
TEST(LinuxClient, R4340_LNX_18_LNX_24_OurRefusalIsTheOneOfALinuxServer) {
  const auto captured = wire_testing::ReadCapture("linux61_more_vectors.txt");
  std::size_t compared = 0;
  for (std::size_t i = 1; i < captured.size(); ++i) {
    const auto& request = captured[i - 1];
    const auto& reset = captured[i];
    if (request.type != "Request" || reset.type != "Reset" || reset.ack != request.seq) continue;
    PacketView view;
    ASSERT_EQ(PacketView::Parse(reset.bytes, &view), ParseError::kNone);
    if (view.reset_reason().code != ResetCode::kBadServiceCode) continue;
    WirePeerConfig config;
    config.encapsulation = Encapsulation::kNative;
    WirePeer peer(config);
    ListenParams params;
    params.port = view.source_port();
    params.service_codes = {ServiceCode(0x12345678)};
    ASSERT_TRUE(peer.endpoint().Listen(params).ok());
    peer.InjectRawFrom(request.bytes, Path{request.destination, request.source, 0, 0});
    EXPECT_EQ(peer.TakeOne().bytes, reset.bytes);
    ++compared;
  }
  EXPECT_GE(compared, 1u);
}

// It answers a Request or Response that reaches its OPEN socket, and whatever is outside its
// window, with a Sync: with an Ack Vector that begins elsewhere than at the Acknowledgement Number.
TEST(LinuxServer, R4340_LNX_19_LNX_20_LNX_23_ItsSyncsAreAnsweredAndAcknowledgeNothing) {
  const Packets packets = LinuxConversation("server-open");
  std::size_t syncs = 0;
  for (const LinuxPacket& sync : packets) {
    if (sync.type != PacketType::kSync || sync.from_client) continue;
    ++syncs;
    // The packet that drew it was our Request, come late.
    WirePeerConfig config = AsClientOf(packets);
    config.options.initial_sequence = SeqNo(*sync.ack);
    WirePeer peer(config);
    ReachPartOpenWithLinuxServer(peer, packets);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(peer.Send("data").ok());
    peer.Take();
    const std::uint32_t in_flight = peer.Info().sender.pipe_packets;
    peer.InjectRaw(ToWirePeer(sync));
    EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, sync.seq)));
    EXPECT_EQ(peer.Info().sender.pipe_packets, in_flight);
    EXPECT_EQ(peer.Info().counters.data_packets_lost, 0u);
    EXPECT_EQ(peer.state(), State::kPartOpen) << "a Sync does not open. RFC 4340 §8.5 step 12";
  }
  EXPECT_GE(syncs, 15u);
}

// A SyncAck with an Ack Vector, in answer to our probe.
TEST(LinuxServer, R4340_LNX_23_ItsSyncAckIsTaken) {
  const Packets packets = LinuxConversation("server-open");
  const LinuxPacket& sync_ack = FirstOf(packets, PacketType::kSyncAck, false);
  WirePeerConfig config = AsClientOf(packets);
  config.options.initial_sequence = SeqNo(*sync_ack.ack);
  WirePeer peer(config);
  ReachPartOpenWithLinuxServer(peer, packets);
  peer.Take();
  peer.InjectRaw(ToWirePeer(sync_ack));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kSync))));
  EXPECT_EQ(peer.Info().counters.sequence_invalid, 0u);
}

// A Linux receiver takes what lies up to floor(3W/4) ahead, one less than we do; a sender that
// waits for acknowledgements stays below both.
TEST(LinuxServer, R4340_LNX_19_WeStayWithinItsWindow) {
  constexpr std::uint64_t kWindow = 33;
  WirePeerConfig config;
  config.options.sequence_window = kWindow;
  WirePeer peer(config);
  peer.OpenAsClient();
  const std::string datagram(100, 'x');
  const auto fill = [&] {
    while (peer.Send(datagram).ok()) {
    }
  };
  // Acknowledgements as Linux sends them, until the congestion window would exceed the other.
  fill();
  std::uint64_t acked = peer.gss();
  for (int round = 0; round < 40; ++round) {
    peer.Advance(milliseconds(10));
    const auto run = static_cast<std::uint8_t>(std::min<std::uint64_t>(peer.gss() - acked, 60));
    acked = peer.gss();
    peer.Inject(Ack(peer.Next(), acked).With({0, 38, 3, run}));
    EXPECT_LE(peer.gss() - acked, 3 * kWindow / 4) << round;
    fill();
    EXPECT_LE(peer.gss() - acked, 3 * kWindow / 4) << round;
  }
  EXPECT_EQ(peer.state(), State::kOpen);
}

// Its application has not read: the Reset waits for that, and our Close is repeated meanwhile.
TEST(LinuxServer, R4340_LNX_21_OurCloseIsRepeatedUntilItsApplicationHasRead) {
  const Packets packets = LinuxConversation("seqwin-5000");
  WirePeer peer(AsClientOf(packets));
  ReachPartOpenWithLinuxServer(peer, packets);
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kAck, false), peer.gss()));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Take();
  ASSERT_TRUE(peer.Close().ok());
  peer.Advance(seconds(100));
  EXPECT_EQ(peer.state(), State::kClosing);
  const auto closes = peer.Take();
  EXPECT_GE(closes.size(), 6u);
  EXPECT_THAT(closes, Each(HasType(PacketType::kClose)));
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kReset, false), closes.front().seq));
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_TRUE(peer.Info().close.clean);
}

TEST(LinuxServer, R4340_LNX_21_ItsCloseReqIsAnsweredByClose) {
  const Packets packets = LinuxConversation("closereq");
  WirePeer peer(AsClientOf(packets));
  ReachPartOpenWithLinuxServer(peer, packets);
  peer.Take();
  const LinuxPacket& close_req = FirstOf(packets, PacketType::kCloseReq, false);
  // It comes while we are still in PARTOPEN: a Linux server says nothing in between.
  peer.InjectRaw(ToWirePeer(close_req));
  EXPECT_THAT(peer.Take(), Contains(IsClose(_, close_req.seq)));
  EXPECT_EQ(peer.state(), State::kClosing);
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kReset, false), peer.gss()));
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_TRUE(peer.Info().close.clean);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kRemote);
}

TEST(LinuxServer, R4340_LNX_22_ItsCloseMeetsOurs) {
  const Packets packets = LinuxConversation("server-timewait");
  WirePeer peer(AsClientOf(packets));
  ReachPartOpenWithLinuxServer(peer, packets);
  peer.Take();
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kClose)));
  const LinuxPacket& close = FirstOf(packets, PacketType::kClose, false);
  peer.InjectRaw(ToWirePeer(close));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, close.seq, 1)));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_TRUE(peer.Info().close.clean);
}

// Our server has asked for the Close (CloseReq) or sent its own when that of the client arrives.
TEST(LinuxClient, R4340_LNX_22_ItsCloseMeetsOurCloseOrCloseReq) {
  const Packets packets = LinuxConversation("simultaneous-close");
  for (const bool timewait : {false, true}) {
    WirePeerConfig config = AsServerOf(packets);
    config.options.server_timewait = timewait;
    WirePeer peer(config);
    OpenWithLinuxClient(peer, packets);
    peer.Take();
    ASSERT_TRUE(peer.Close().ok());
    EXPECT_THAT(peer.Take(),
                ElementsAre(HasType(timewait ? PacketType::kClose : PacketType::kCloseReq)));
    const LinuxPacket& close = FirstOf(packets, PacketType::kClose, true);
    peer.InjectRaw(ToWirePeer(close));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, close.seq, 1)));
    EXPECT_EQ(peer.state(), State::kClosed);
    EXPECT_TRUE(peer.Info().close.clean);
  }
}

// "Fragmentation needed" makes it send a Sync, from REQUEST too, where it has nothing to
// acknowledge.
TEST(LinuxClient, R4340_LNX_26_ItsSyncFromRequestHarmsNothing) {
  const Packets packets = LinuxConversation("client-frag-needed");
  ASSERT_THAT(packets, SizeIs(2));
  EXPECT_EQ(packets[1].type, PacketType::kSync);
  EXPECT_EQ(packets[1].ack, 0u);
  WirePeer peer;
  peer.Listen();
  peer.InjectRaw(ToWirePeer(packets[0]));
  const SentPacket response = peer.TakeOne();
  peer.InjectRaw(ToWirePeer(packets[1]));
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.state(), State::kRespond);
  peer.Inject(Ack(packets[1].seq + 1, response.seq).With(ConfirmsFor(response)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

// In OPEN the same Sync is an ordinary one.
TEST(LinuxClient, R4340_LNX_26_ItsSyncInOpenIsAnswered) {
  const Packets packets = LinuxConversation("client-partopen");
  WirePeer peer(AsServerOf(packets));
  OpenWithLinuxClient(peer, packets);
  peer.Take();
  const std::uint64_t seq = FirstOf(packets, PacketType::kAck, true).seq + 1;
  peer.Inject(Sync(seq, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, seq)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

// A Linux server refuses a first Ack that does not confirm all that it asked: Reset(Too Busy).
TEST(LinuxServer, R4340_LNX_05_RST_01_ItsTooBusyAfterTheHandshakeIsUnderstood) {
  const Packets packets = LinuxConversation("server-wants-confirms");
  WirePeer peer(AsClientOf(packets));
  ReachPartOpenWithLinuxServer(peer, packets);
  peer.Take();
  const LinuxPacket& reset = FirstOf(packets, PacketType::kReset, false);
  peer.InjectRaw(ToWirePeer(reset));
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_EQ(peer.Info().close.reset.code, ResetCode::kTooBusy);
  EXPECT_FALSE(peer.Info().close.clean);
  EXPECT_THAT(peer.Take(), IsEmpty());
}

}  // namespace
}  // namespace dccp::peer
