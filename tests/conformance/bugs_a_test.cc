// Failures that other DCCP stacks have shown: handshake, states, sequence validity. Cases that a
// requirement's own test covers carry their number there.

#include <gtest/gtest.h>

#include <array>

#include "tests/support/wire_peer.h"

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

TEST(Bugs, Bug_A3_AnInvalidSyncIsDroppedInEveryState) {
  WirePeer respond;
  respond.ServerInRespond();
  respond.Inject(Sync(5001, kIss + 9));
  EXPECT_THAT(respond.Take(), IsEmpty());
  EXPECT_EQ(respond.state(), State::kRespond);
  WirePeer part_open;
  part_open.ClientInPartOpen();
  part_open.Inject(SyncAck(5001, kIss + 9));
  EXPECT_THAT(part_open.Take(), IsEmpty());
  EXPECT_EQ(part_open.state(), State::kPartOpen);
}

TEST(Bugs, Bug_A4_ASyncInRequestIsNotAnsweredWithSyncAck) {
  WirePeer peer;
  peer.ClientInRequest();
  peer.Inject(Sync(5000, kIss));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 4, 8)));
}

// Step 13 sends a Close for the first CloseReq only; an answer to each is harmless.
TEST(Bugs, Bug_A5_EVT_16_ASecondCloseReqIsNoSecondTransition) {
  WirePeer peer;
  peer.OpenAsClient();
  peer.Inject(CloseReq(5002, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsClose(_, 5002u)));
  peer.Inject(CloseReq(5003, peer.gss()));
  EXPECT_THAT(peer.Take(), Each(IsClose(_, 5003u)));
  EXPECT_EQ(peer.state(), State::kClosing);
  // The repetition that was due for the first is still due.
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), AllOf(Not(IsEmpty()), Each(IsClose(_, 5003u))));
}

TEST(Bugs, Bug_A7_APacketInPartOpenIsProcessedOnce) {
  WirePeer peer;
  peer.ClientInPartOpen();
  const std::uint64_t before = peer.Info().receiver.packets;
  peer.Inject(DataAck(5001, peer.gss(), "x").Marked(Ecn::kCe));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
  EXPECT_EQ(peer.Info().receiver.packets, before + 1);
  EXPECT_EQ(peer.Info().receiver.marked, 1u);
}

// B lost its state; A's Data has no Acknowledgement Number, so B's first Reset cannot be valid.
TEST(Bugs, Bug_A15_NoPingPongOfResetsAndSyncs) {
  WirePeer a;
  a.OpenAsServer();
  ASSERT_TRUE(a.Send("x").ok());
  const std::uint64_t data = a.TakeOne().seq;
  a.Inject(Reset(0, data, 3));
  const SentPacket sync = a.TakeOne();
  EXPECT_THAT(sync, IsSync(_, 5001u));
  // B, in CLOSED, takes the numbers of its Reset from the Sync.
  a.Inject(Reset(*sync.ack + 1, sync.seq, 3));
  EXPECT_EQ(a.state(), State::kTimeWait);
  EXPECT_THAT(a.Take(), IsEmpty());
}

TEST(Bugs, Bug_A19_NothingAnswersMulticastAndBroadcast) {
  WirePeer peer;
  peer.Listen();
  const std::array<std::array<std::uint8_t, 4>, 3> addresses = {
      {{224, 0, 0, 1}, {239, 1, 2, 3}, {255, 255, 255, 255}}};
  for (const auto& address : addresses) {
    for (const bool local : {true, false}) {
      Path path = peer.path();
      std::copy(address.begin(), address.end(), (local ? path.local : path.remote).bytes.begin());
      peer.InjectRawFrom(peer.BuildPacket(Request(5000)), path);
      peer.InjectRawFrom(peer.BuildPacket(Ack(5000, 77)), path);
    }
  }
  Path v6 = peer.path();
  v6.local = v6.remote = IpAddress{IpFamily::kV6, {0x20, 1}, 0};
  v6.local.bytes = {0xFF, 2};
  peer.InjectRawFrom(peer.BuildPacket(Request(5000)), v6);
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kMartian), 13u);
}

TEST(Bugs, Bug_A20_ARequestWithAnOptionErrorIsToldTheRealCause) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({1, 60, 3, 7}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(kIss, 5000u, 6, 60, 7)));
  peer.Inject(Request(6000).With({60, 3, 7, 1}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(kIss, 6000u, 5, 1)));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
}

// A repeat with the same number is a copy that the network made: it costs no work and no answer.
TEST(Bugs, Bug_A23_CopiesOfARequestAreCheap) {
  WirePeer peer;
  peer.Listen();
  const PacketSpec request = Request(5000).With({41, 6, 0, 0, 0, 9, 32, 5, 5, 0, 4});
  for (int i = 0; i < 10'000; ++i) peer.Inject(request);
  EXPECT_THAT(peer.Take(), SizeIs(1));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
}

TEST(Bugs, Bug_A24_IdenticalRequestsMakeOneConnection) {
  WirePeer peer;
  peer.Listen();
  const Bytes request = peer.BuildPacket(Request(5000));
  const std::array<InboundDatagram, 2> batch = {InboundDatagram{request, 0, peer.path()},
                                                InboundDatagram{request, 0, peer.path()}};
  peer.endpoint().Receive(batch, peer.now());
  peer.Advance(Duration::zero());
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
  EXPECT_THAT(peer.Take(), Each(IsResponse(_, 5000u)));
}

TEST(Bugs, Bug_A27_CloseAndCloseReqDoNotEndRequest) {
  for (const PacketType type : {PacketType::kClose, PacketType::kCloseReq}) {
    WirePeer peer;
    peer.ClientInRequest();
    peer.Inject(Make(type, 5000, kIss));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 4, static_cast<int>(type))));
    EXPECT_EQ(peer.state(), State::kRequest);
    EXPECT_EQ(peer.TakeEvents(), 0u);
  }
}

TEST(Bugs, Bug_A28_InitialNumbersOfIpv6AreUnpredictableToo) {
  std::vector<std::uint64_t> numbers;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    WirePeerConfig config;
    config.family = IpFamily::kV6;
    config.seed = seed;
    WirePeer peer(config);
    ConnectParams params;
    params.path = peer.path();
    params.local_port = 6000;
    params.remote_port = 6001;
    ASSERT_TRUE(peer.endpoint().Connect(params, peer.now()).ok());
    peer.Advance(Duration::zero());
    numbers.push_back(peer.TakeOne().seq);
  }
  for (std::size_t i = 1; i < numbers.size(); ++i) EXPECT_NE(numbers[i], numbers[i - 1]);
  EXPECT_GT(numbers[0], 1u);
}

TEST(Bugs, Bug_A31_EveryResetFailsAConnect) {
  for (const unsigned code : {0u, 1u, 12u, 13u, 100u, 255u}) {
    WirePeer peer;
    peer.ClientInRequest();
    peer.TakeEvents();
    peer.Inject(Reset(5000, kIss, code));
    const std::uint32_t events = peer.TakeEvents();
    EXPECT_EQ(events & kEventConnected, 0u) << code;
    EXPECT_NE(events & kEventClosed, 0u) << code;
    EXPECT_FALSE(peer.Send("x").ok());
  }
}

// The socket's own numbers, not the packet's: RFC 4340 §7.5.6, third example.
TEST(Bugs, Bug_A32_RST_13_PacketErrorsUseTheSocketsNumbers) {
  WirePeer peer;
  peer.ClientInRequest();
  std::uint64_t seq = kIss;
  for (const PacketType type : {PacketType::kSync, PacketType::kSyncAck, PacketType::kAck,
                                PacketType::kDataAck, PacketType::kData}) {
    peer.Inject(Make(type, 11, kIss));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(++seq, 11u, 4, static_cast<int>(type))));
  }
  EXPECT_EQ(peer.state(), State::kRequest);
}

TEST(Bugs, Bug_A33_AResponseToNothingIsRefusedAndTheRequestsGoOn) {
  WirePeer peer;
  peer.ClientInRequest();
  peer.Inject(Response(5000, kIss + 5));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 4, 1)));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), ElementsAre(IsRequest(_)));
}

TEST(Bugs, Bug_A35_Bug_B3_AnOptionErrorEndsTheConnectionOnBothSides) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({60, 3, 0, 1}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 5, 1)));
  EXPECT_FALSE(peer.Send("x").ok());
  EXPECT_NE(peer.TakeEvents() & kEventClosed, 0u);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kProtocol);
  EXPECT_EQ(peer.Info().close.reset.code, ResetCode::kOptionError);
}

TEST(Bugs, Bug_A36_ARequestInOpenDrawsOneSyncAndNothingElse) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Request(5002));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5002u)));
}

TEST(Bugs, Bug_A37_Bug_A17_ShortNumbersAreNeitherTakenNorOffered) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x").Short());
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Inject(Ack(5002, peer.gss()).With({32, 4, 2, 1}));
  peer.Advance(seconds(1));
  EXPECT_EQ(peer.Feature(FeatureNumber::kAllowShortSeqnos, false), 0u);
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Bugs, Bug_A39_GivingUpInRequestTellsThePeer) {
  WirePeer peer;
  peer.ClientInRequest();
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(kIss + 1, 0u, 2)));
  EXPECT_EQ(peer.state(), State::kClosed);
}

TEST(Bugs, Bug_A40_WhatIsNotAnsweredAtAPort) {
  for (const bool listening : {true, false}) {
    WirePeerConfig config;
    config.encapsulation = Encapsulation::kNative;
    WirePeer peer(config);
    if (listening) peer.Listen();
    peer.Inject(Reset(5000, 77, 1));
    for (const int type : {10, 11, 12, 13, 14, 15}) {
      Bytes bytes = peer.BuildPacket(Ack(5000, 77));
      bytes[8] = static_cast<std::byte>(type << 1 | 1);
      peer.InjectRaw(bytes);
    }
    Bytes offset = peer.BuildPacket(Ack(5000, 77));
    offset[4] = std::byte{4};
    peer.InjectRaw(offset);
    Bytes checksum = peer.BuildPacket(Request(5000));
    checksum[6] ^= std::byte{0x10};
    peer.InjectRaw(checksum);
    Bytes short_request = peer.BuildPacket(Request(5000));
    short_request[8] &= std::byte{0xFE};
    peer.InjectRaw(short_request);
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_EQ(peer.DroppedInAll(), 10u);
  }
}

TEST(Bugs, Bug_A41_AResponseIsNotRepeatedByTimer) {
  WirePeer peer;
  peer.ServerInRespond();
  peer.Advance(seconds(300));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(Bugs, Bug_A43_DataInRespondOpensNothing) {
  WirePeer peer;
  peer.ServerInRespond();
  peer.Inject(Data(5001, "x"));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5001u)));
  EXPECT_EQ(peer.state(), State::kRespond);
  peer.Inject(DataAck(5002, kIss, "y"));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Read(), ElementsAre("y"));
}

TEST(Bugs, Bug_A44_AStrayShortPacketIsAnsweredIn24Bits) {
  WirePeer peer;
  peer.Inject(DataAck(0xABCDEF, 0xFFFFFF, "x").Short());
  const SentPacket reset = peer.TakeOne();
  EXPECT_TRUE(reset.extended);
  EXPECT_THAT(reset, IsReset(0u, 0xABCDEFu, 3));
}

}  // namespace
}  // namespace dccp::peer
