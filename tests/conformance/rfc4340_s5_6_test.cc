// RFC 4340 §5.6, §8.3.1: Resets, sent and received.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Resets, R4340_RST_02_RST_01_PacketErrorNamesTheType) {
  for (const PacketType type :
       {PacketType::kRequest, PacketType::kData, PacketType::kAck, PacketType::kDataAck,
        PacketType::kCloseReq, PacketType::kClose, PacketType::kSync, PacketType::kSyncAck}) {
    WirePeer peer;
    peer.ClientInRequest();
    peer.Inject(Make(type, 11, kIss));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(kIss + 1, 11u, 4, static_cast<int>(type))));
    EXPECT_EQ(peer.state(), State::kRequest);
  }
}

TEST(Resets, R4340_RST_03_MandatoryErrorNamesOptionAndFirstTwoBytes) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({1, 45, 5, 0xAA, 0xBB, 0xCC}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, 45, 0xAA, 0xBB)));
  EXPECT_EQ(peer.state(), State::kClosed);
}

TEST(Resets, R4340_RST_03_ShortOptionsFillWithZeros) {
  WirePeer one;
  one.OpenAsServer();
  one.Inject(Ack(5002, one.gss()).With({1, 45, 3, 0xAA}));
  EXPECT_THAT(one.Take(), ElementsAre(IsReset(_, 5002u, 6, 45, 0xAA, 0)));
  WirePeer none;
  none.OpenAsServer();
  none.Inject(Ack(5002, none.gss()).With({1, 9}));
  EXPECT_THAT(none.Take(), ElementsAre(IsReset(_, 5002u, 6, 9, 0, 0)));
}

TEST(Resets, R4340_RST_06_EveryCodeEndsTheConnection) {
  for (unsigned code = 0; code < 256; ++code) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Reset(5002, peer.gss(), code));
    EXPECT_EQ(peer.state(), State::kTimeWait) << code;
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_EQ(static_cast<unsigned>(peer.Info().close.reset.code), code);
    EXPECT_TRUE(peer.Info().close.reset_received);
  }
}

TEST(Resets, R4340_RST_07_AResetWithABadOptionIsObeyed) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Reset(5002, peer.gss(), 2).With({1, 45, 3, 1}));
  EXPECT_EQ(peer.state(), State::kTimeWait);
}

TEST(Resets, R4340_RST_08_CLS_08_CodesByState) {
  WirePeer closed;
  closed.Inject(Ack(5000, 77));
  EXPECT_THAT(closed.Take(), ElementsAre(IsReset(78u, 5000u, 3)));
  WirePeer listening;
  listening.Listen();
  listening.Inject(Ack(5000, 77));
  EXPECT_THAT(listening.Take(), ElementsAre(IsReset(78u, 5000u, 3)));
  WirePeer time_wait;
  time_wait.OpenAsServer();
  time_wait.Inject(Reset(5002, time_wait.gss(), 1));
  time_wait.Inject(Ack(5003, 77));
  EXPECT_THAT(time_wait.Take(), ElementsAre(IsReset(78u, 5003u, 3)));
  WirePeer request;
  request.ClientInRequest();
  request.Inject(Ack(5000, 77));
  EXPECT_THAT(request.Take(), ElementsAre(IsReset(_, 5000u, 4, 3)));
}

TEST(Resets, R4340_RST_09_NumbersComeFromThePacketWhereThereIsNoState) {
  constexpr std::uint64_t kSeq = 0xABCDEF123456;
  constexpr std::uint64_t kAck = 0x123456FFFFFF;
  const auto answer_to = [](const PacketSpec& spec) {
    WirePeer peer;
    peer.Inject(spec);
    return peer.TakeOne();
  };
  EXPECT_THAT(answer_to(Data(kSeq, "x")), IsReset(0u, kSeq, 3));
  EXPECT_THAT(answer_to(Ack(kSeq, kAck)), IsReset(kAck + 1, kSeq, 3));
  EXPECT_THAT(answer_to(DataAck(kSeq, SeqNo::kMask, "x")), IsReset(0u, kSeq, 3));
  EXPECT_THAT(answer_to(Request(kSeq)), IsReset(0u, kSeq, 7));
  EXPECT_THAT(answer_to(Sync(kSeq, kAck)), IsReset(kAck + 1, kSeq, 3));
  // Short numbers are taken as they are.
  EXPECT_THAT(answer_to(Data(kSeq, "x").Short()), IsReset(0u, 0x123456u, 3));
  EXPECT_THAT(answer_to(Ack(kSeq, 0x123456).Short()), IsReset(0x123457u, 0x123456u, 3));
  EXPECT_THAT(answer_to(Ack(kSeq, kAck).Short()), IsReset(0u, 0x123456u, 3));
}

TEST(Resets, R4340_RST_10_AResetIsNeverAnsweredWithAReset) {
  WirePeer closed;
  closed.Inject(Reset(5000, 77, 1));
  EXPECT_THAT(closed.Take(), IsEmpty());
  WirePeer listening;
  listening.Listen();
  listening.Inject(Reset(5000, 77, 1));
  EXPECT_THAT(listening.Take(), IsEmpty());
  WirePeer time_wait;
  time_wait.OpenAsServer();
  time_wait.Inject(Reset(5002, time_wait.gss(), 1));
  time_wait.Inject(Reset(5003, time_wait.gss(), 1));
  EXPECT_THAT(time_wait.Take(), IsEmpty());
}

TEST(Resets, R4340_RST_11_RefusalsAreRateLimited) {
  WirePeer peer;
  for (int ms = 0; ms < 1000; ++ms) {
    for (int i = 0; i < 10; ++i) peer.Inject(Ack(5000, 77));
    peer.Advance(milliseconds(1));
  }
  const std::size_t answers = peer.Take().size();
  EXPECT_LE(answers, 1024u + 1024u / 4);
  EXPECT_GE(answers, 900u);
  EXPECT_EQ(peer.DroppedInAll(), 10000u);
}

TEST(Resets, R4340_RST_11_RefusalsForBadOptionsCountToo) {
  WirePeerConfig config;
  config.adjust = [](EndpointConfig& endpoint) { endpoint.refusals_per_second = 100; };
  WirePeer peer(config);
  peer.Listen();
  std::size_t answers = 0;
  std::uint64_t seq = 5000;
  for (int ms = 0; ms < 1000; ++ms) {
    for (int i = 0; i < 3; ++i) {
      // The reason differs, the limit is one: a fault of its options, an unknown service.
      peer.Inject(Request(++seq).With({1, 60, 3, 7}));
      peer.Inject(Request(++seq).Service(77));
    }
    for (const SentPacket& sent : peer.Take()) {
      EXPECT_EQ(sent.type, PacketType::kReset);
      ++answers;
    }
    peer.Advance(milliseconds(1));
  }
  EXPECT_LE(answers, 100u + 100u / 4);
  EXPECT_GE(answers, 90u);
  EXPECT_EQ(peer.DroppedInAll(), 6000u);
  EXPECT_EQ(peer.endpoint().counters().connections_refused, 6000u);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  // Who comes with good options is served all the same.
  peer.Inject(Request(++seq));
  EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(kIss, seq)));
}

TEST(Resets, R4340_RST_12_CON_04_AClientThatGivesUpSaysAborted) {
  WirePeer peer;
  peer.ClientInRequest();
  peer.Advance(minutes(3));
  const auto sent = peer.Take();
  ASSERT_FALSE(sent.empty());
  EXPECT_THAT(sent.back(), IsReset(kIss + sent.size(), 0u, 2));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kTimeout);
}

// The third example of §7.5.6.
TEST(Resets, R4340_RST_13_SEQ_19_HalfOpenRecovery) {
  WirePeerConfig config;
  config.options.initial_sequence = SeqNo(400);
  WirePeer peer(config);
  peer.Connect();
  EXPECT_THAT(peer.Take(), ElementsAre(IsRequest(400u)));
  peer.Inject(Sync(11, 400));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(401u, 11u, 4, 8)));
  EXPECT_EQ(peer.state(), State::kRequest);
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), ElementsAre(IsRequest(402u)));
}

TEST(Resets, R4340_RST_14_TheFirstResetTellsTheCause) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Reset(0, 0, 6));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5001u)));
  peer.Inject(Reset(5002, peer.gss(), 3));
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_EQ(peer.Info().close.reset.code, ResetCode::kMandatoryError);
}

TEST(Resets, R4340_RST_15_WhoSendsAResetIsClosed) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Abort().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5001u, 2)));
  EXPECT_EQ(peer.state(), State::kClosed);
  // The tuple is free at once: the next packet finds no connection.
  peer.Inject(Ack(5002, 77));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(78u, 5002u, 3)));
}

TEST(Resets, R4340_RST_04_RST_05_NoCodeZeroAndRefusalsOnlyForRequests) {
  WirePeer peer;
  peer.Listen();
  for (const PacketType type :
       {PacketType::kResponse, PacketType::kData, PacketType::kAck, PacketType::kDataAck,
        PacketType::kCloseReq, PacketType::kClose, PacketType::kSync, PacketType::kSyncAck}) {
    peer.Inject(Make(type, 5000, 77).Service(99));
  }
  const auto sent = peer.Take();
  EXPECT_THAT(sent, SizeIs(8));
  for (const SentPacket& packet : sent) EXPECT_THAT(packet, IsReset(_, 5000u, 3));
}

}  // namespace
}  // namespace dccp::peer
