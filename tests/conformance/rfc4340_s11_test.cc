// RFC 4340 §11: acknowledgements, as an endpoint with CCID 2 sends and reads them.

#include <gtest/gtest.h>

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

void SetAckRatio(WirePeer& peer, std::uint8_t ratio) {
  peer.Inject(Ack(peer.Next(), peer.gss()).With({32, 5, 5, 0, ratio}));
  peer.Advance(seconds(1));
  ASSERT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), ratio);
  peer.Take();
}

TEST(AckRatio, R4340_AR_01_OneAckPerRatioDataPackets) {
  for (const std::uint8_t ratio : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}}) {
    WirePeer peer;
    peer.OpenAsServer();
    SetAckRatio(peer, ratio);
    for (int i = 0; i < 24; ++i) peer.Inject(Data(peer.Next(), "x"));
    EXPECT_THAT(peer.Take(),
                AllOf(SizeIs(std::size_t{24} / ratio), Each(HasType(PacketType::kAck))));
  }
}

TEST(AckRatio, R4340_AR_02_PureAcksFillInWherePiggybackedOnesAreTooFew) {
  WirePeer peer;
  peer.OpenAsServer();
  std::size_t acks = 0;
  for (int i = 0; i < 24; ++i) {
    peer.Inject(Data(peer.Next(), "x"));
    if (i % 8 == 0) {
      ASSERT_TRUE(peer.Send("reverse").ok());
    }
    for (const SentPacket& packet : peer.Take()) acks += packet.ack.has_value() ? 1u : 0u;
  }
  EXPECT_GE(acks, 12u);
}

TEST(AckRatio, R4340_AR_04_AnAckIsDelayedByAFifthOfASecondAtMost) {
  WirePeer peer;
  peer.OpenAsServer();
  SetAckRatio(peer, 10);
  const std::uint64_t seq = peer.Next();
  peer.Inject(Data(seq, "x"));
  const TimePoint arrival = peer.now();
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Advance(milliseconds(200));
  const SentPacket ack = peer.TakeOne();
  EXPECT_THAT(ack, IsAck(_, seq));
  EXPECT_LE(ack.time - arrival, milliseconds(200));
  peer.Advance(seconds(10));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(AckRatio, R4340_AR_05_MarksAndGapsAreAcknowledgedAtOnce) {
  WirePeer marked;
  marked.OpenAsServer();
  SetAckRatio(marked, 10);
  marked.Inject(Data(marked.Next(), "x").Marked(Ecn::kCe));
  EXPECT_THAT(marked.Take(), SizeIs(1));
  // Of a row of marks one per round trip.
  for (int i = 0; i < 8; ++i) marked.Inject(Data(marked.Next(), "x").Marked(Ecn::kCe));
  EXPECT_THAT(marked.Take(), IsEmpty());

  WirePeer gap;
  gap.OpenAsServer();
  SetAckRatio(gap, 10);
  gap.Inject(Data(gap.PeekNext() + 1, "x"));
  EXPECT_THAT(gap.Take(), SizeIs(1));
  gap.Inject(Data(gap.PeekNext(), "late"));
  EXPECT_THAT(gap.Take(), SizeIs(1));
}

TEST(AckVector, R4340_AV_02_ECN_02_OnlyCongestionExperiencedIsAMark) {
  for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct0, Ecn::kEct1, Ecn::kCe}) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Data(peer.Next(), "x"));
    peer.Inject(Data(peer.Next(), "x").Marked(ecn));
    const SentPacket ack = peer.TakeOne();
    const OptionType type =
        ecn == Ecn::kEct1 ? OptionType::kAckVectorNonce1 : OptionType::kAckVectorNonce0;
    // 5001 to 5003.
    if (ecn == Ecn::kCe) {
      EXPECT_THAT(ack, HasOption(type, ElementsAre(0x40, 1)));
    } else {
      EXPECT_THAT(ack, HasOption(type, ElementsAre(2)));
    }
  }
}

TEST(AckVector, R4340_AV_03_AV_13_EachVectorCoversWhatIsNotYetConfirmed) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 6; ++i) peer.Inject(Data(peer.Next(), "x"));
  const auto sent = peer.Take();
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_THAT(sent.back(),
              IsAck(_, 5007u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(6))));
  // The peer has the second of them: 5005 and below need no report any more.
  peer.Inject(Ack(peer.Next(), sent[1].seq));
  for (int i = 0; i < 2; ++i) peer.Inject(Data(peer.Next(), "x"));
  const SentPacket ack = peer.TakeOne();
  EXPECT_THAT(ack, IsAck(_, 5010u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(4))));
}

TEST(AckVector, R4340_AV_04_NoneOnDataAndRequest) {
  WirePeer client;
  client.Connect();
  EXPECT_THAT(client.Take(), Each(Not(HasOption(OptionType::kAckVectorNonce0))));
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("x").ok());
  const SentPacket data = peer.TakeOne();
  EXPECT_EQ(data.type, PacketType::kData);
  EXPECT_THAT(data.options, IsEmpty());
}

// GSR is the greatest number of an acknowledgeable packet (§7.1): a type that step 7 drops does not
// count, and the Ack Vector, which begins at the Acknowledgement Number, must not claim it.
TEST(AckVector, R4340_AV_05_SEQ_06_WhatStep7DropsIsNotAcknowledged) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x"));
  peer.Inject(Response(5003, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5003u)));
  peer.Advance(milliseconds(200));
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(
                               _, 5002u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(1)))));
  peer.Inject(Data(5004, "x"));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsAck(_, 5004u,
                                HasOption(OptionType::kAckVectorNonce0, ElementsAre(0, 192, 1)))));
}

// Nor the SyncAck of a Sync that is not the greatest packet.
TEST(AckVector, R4340_AV_05_SyncsCarryNone) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5003, "x"));
  peer.Take();
  peer.Inject(Sync(5002, peer.gss()));
  peer.Inject(Data(9000, "x"));
  EXPECT_THAT(peer.Take(),
              AllOf(Contains(HasType(PacketType::kSyncAck)), Contains(HasType(PacketType::kSync)),
                    Each(::testing::AnyOf(HasType(PacketType::kAck),
                                          Not(HasOption(OptionType::kAckVectorNonce0))))));
}

TEST(AckVector, R4340_AV_06_DD_04_DD_05_Bug_C35_AFullReceiveQueueIsNoCongestion) {
  WirePeerConfig config;
  config.options.receive_queue_datagrams = 1;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Data(5002, "kept"));
  peer.Inject(Data(5003, "lost"));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsAck(_, 5003u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(2)),
                                HasOption(OptionType::kDataDropped, ElementsAre(0xA0)))));
  EXPECT_THAT(peer.Read(), ElementsAre("kept"));
}

TEST(AckVector, R4340_AV_07_AV_09_OddVectorsDoNoHarm) {
  for (const Octets& vector :
       {Octets{38, 255}, Octets{38, 3, 0x80}, Octets{39, 4, 63, 63}, Octets{38, 4, 0xBF, 0x3F},
        Octets{38, 2}, Octets{38, 3, 0xC0}, Octets{39, 3, 0x40}}) {
    WirePeer peer;
    peer.OpenAsServer();
    ASSERT_TRUE(peer.Send("one").ok());
    Octets options = vector;
    if (options[1] == 255) options.resize(255, 0x3F);
    peer.Inject(Ack(peer.Next(), peer.gss()).With(options));
    peer.Inject(DataAck(peer.Next(), peer.gss(), "in"));
    EXPECT_EQ(peer.state(), State::kOpen);
    EXPECT_THAT(peer.Read(), ElementsAre("in"));
    ASSERT_TRUE(peer.Send("two").ok());
    EXPECT_THAT(peer.Take(), Contains(HasPayload("two")));
  }
}

TEST(DataDropped, R4340_DD_06_NothingDroppedNothingSaid) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 10; ++i) peer.Inject(Data(peer.Next(), "x"));
  EXPECT_THAT(peer.Take(), Each(Not(HasOption(OptionType::kDataDropped))));
}

TEST(DataDropped, R4340_DD_08_IsRepeatedUntilAcknowledged) {
  WirePeerConfig config;
  config.options.receive_queue_datagrams = 1;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Data(5002, "kept"));
  peer.Inject(Data(5003, "lost"));
  peer.Take();
  peer.Read();
  peer.Inject(Data(5004, "kept"));
  peer.Read();
  peer.Inject(Data(5005, "kept"));
  const SentPacket again = peer.TakeOne();
  EXPECT_THAT(again, HasOption(OptionType::kDataDropped, ElementsAre(1, 0xA0)));
  peer.Read();
  peer.Inject(Ack(5006, again.seq));
  peer.Inject(Data(5007, "x"));
  peer.Read();
  peer.Inject(Data(5008, "x"));
  EXPECT_THAT(peer.Take(), ElementsAre(Not(HasOption(OptionType::kDataDropped))));
}

TEST(SlowReceiver, R4340_SR_01_Bug_B20_IsUnderstood) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({1, 2}));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(AckTraffic, R4340_ACK_01_PureAcksAreNotAcknowledged) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 50; ++i) {
    peer.Inject(Ack(peer.Next(), peer.gss()));
    peer.Advance(milliseconds(50));
  }
  EXPECT_THAT(peer.Take(), IsEmpty());
}

}  // namespace
}  // namespace dccp::peer
