#include "stack/conn/ack_vector_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/conn/ack_vector_util.h"

namespace dccp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AckVectorBufferTest : public ::testing::Test {
 protected:
  AckVectorBufferTest() { buffer_.Start(Seq64(0)); }

  RecordResult Record(std::int64_t seq, Ecn ecn = Ecn::kEct0, PacketType type = PacketType::kData) {
    return buffer_.Record(Seq64(seq), ecn, type);
  }
  void RecordRange(std::int64_t first, std::int64_t last) {
    for (std::int64_t seq = first; seq <= last; ++seq) Record(seq);
  }
  void AckOfAck(std::int64_t our_seq) { buffer_.OnAckOfAck(Seq64(our_seq)); }
  std::vector<std::byte> Vector(std::int64_t our_seq) {
    return Cells(WriteVector(buffer_, our_seq));
  }

  AckVectorBuffer buffer_;
};

TEST_F(AckVectorBufferTest, R4340_AV_01_WritesTheExampleVector) {
  buffer_.Start(Seq64(88));
  RecordRange(88, 93);
  Record(94, Ecn::kCe);
  RecordRange(95, 98);
  Record(100);
  EXPECT_THAT(Vector(1),
              ElementsAre(std::byte{0}, std::byte{192}, std::byte{3}, std::byte{64}, std::byte{5}));
  EXPECT_EQ(buffer_.greatest(), Seq64(100));
}

TEST_F(AckVectorBufferTest, WritesNothingBeforeTheFirstPacket) {
  EXPECT_THAT(Vector(1), IsEmpty());
  EXPECT_EQ(buffer_.greatest(), Seq64(-1));
  EXPECT_EQ(buffer_.EncodedBytes(), 0u);
}

TEST_F(AckVectorBufferTest, R4340_AV_02_OnlyCongestionExperiencedIsMarked) {
  const std::array<Ecn, 4> codepoints = {Ecn::kNotEct, Ecn::kEct1, Ecn::kEct0, Ecn::kCe};
  for (const Ecn ecn : codepoints) {
    buffer_.Start(Seq64(5));
    Record(5, ecn);
    EXPECT_THAT(Vector(1), ElementsAre(AckCell(ecn == Ecn::kCe ? 1 : 0, 0))) << ToString(ecn);
  }
}

TEST_F(AckVectorBufferTest, R4340_AV_03_RunsAbove64TakeSeveralCells) {
  RecordRange(0, 199);
  EXPECT_THAT(Vector(1),
              ElementsAre(AckCell(0, 63), AckCell(0, 63), AckCell(0, 63), AckCell(0, 7)));
}

TEST_F(AckVectorBufferTest, R4340_AV_05_TheAcknowledgementNumberIsNeverState3) {
  Record(0);
  Record(7);
  EXPECT_THAT(Vector(1), ElementsAre(AckCell(0, 0), AckCell(3, 5), AckCell(0, 0)));
  Record(3);
  EXPECT_THAT(Vector(2), ElementsAre(AckCell(0, 0), AckCell(3, 2), AckCell(0, 0), AckCell(3, 1),
                                     AckCell(0, 0)));
}

TEST_F(AckVectorBufferTest, R4340_AV_11_ReceiverMergeKeepsTheFirstState) {
  Record(0, Ecn::kEct0);
  Record(1, Ecn::kCe);
  EXPECT_EQ(Record(0, Ecn::kCe), RecordResult::kDuplicate);
  EXPECT_EQ(Record(1, Ecn::kEct0), RecordResult::kDuplicate);
  EXPECT_THAT(Vector(1), ElementsAre(AckCell(1, 0), AckCell(0, 0)));
}

TEST_F(AckVectorBufferTest, R4340_AV_11_MissingTakesTheReceivedState) {
  Record(0);
  Record(3);
  EXPECT_EQ(Record(1, Ecn::kCe), RecordResult::kNew);
  EXPECT_EQ(Record(2, Ecn::kNotEct), RecordResult::kNew);
  EXPECT_THAT(Vector(1), ElementsAre(AckCell(0, 1), AckCell(1, 0), AckCell(0, 0)));
}

TEST_F(AckVectorBufferTest, LatePacketInEveryPlaceOfAGap) {
  for (std::int64_t late = 1; late <= 5; ++late) {
    buffer_.Start(Seq64(0));
    Record(0);
    Record(6);
    EXPECT_EQ(Record(late), RecordResult::kNew);
    const auto states = StatesOf(WriteVector(buffer_, late), 6);
    for (std::int64_t seq = 0; seq <= 6; ++seq) {
      const bool received = seq == 0 || seq == 6 || seq == late;
      EXPECT_EQ(states.at(seq), received ? AckState::kReceived : AckState::kNotReceived) << seq;
    }
  }
}

TEST_F(AckVectorBufferTest, FilledGapsJoinIntoOneRun) {
  for (std::int64_t seq = 0; seq < 100; seq += 2) Record(seq);
  EXPECT_EQ(buffer_.runs(), 99u);
  for (std::int64_t seq = 97; seq > 0; seq -= 2) Record(seq);
  EXPECT_EQ(buffer_.runs(), 1u);
}

TEST_F(AckVectorBufferTest, Bug_C27_KnowsDuplicates) {
  Record(0);
  Record(5);
  EXPECT_TRUE(buffer_.Received(Seq64(0)));
  EXPECT_FALSE(buffer_.Received(Seq64(3)));
  EXPECT_TRUE(buffer_.Received(Seq64(5)));
  EXPECT_FALSE(buffer_.Received(Seq64(6)));
  EXPECT_TRUE(buffer_.Received(Seq64(-1)));
  EXPECT_EQ(Record(5), RecordResult::kDuplicate);
  EXPECT_EQ(Record(-1), RecordResult::kTooOld);
}

TEST_F(AckVectorBufferTest, Bug_C27_KnowsDuplicatesOfWhatIsAcknowledged) {
  RecordRange(0, 9);
  Vector(1);
  AckOfAck(1);
  EXPECT_EQ(buffer_.window_start(), Seq64(10));
  EXPECT_EQ(Record(4), RecordResult::kDuplicate);
}

TEST_F(AckVectorBufferTest, R4340_AV_13_CoversTheWholeWindowUntilAcknowledged) {
  RecordRange(0, 3);
  Vector(1);
  RecordRange(4, 5);
  EXPECT_THAT(Vector(2), ElementsAre(AckCell(0, 5)));
  AckOfAck(1);
  RecordRange(6, 6);
  EXPECT_THAT(Vector(3), ElementsAre(AckCell(0, 2)));
}

TEST_F(AckVectorBufferTest, AlwaysReportsThePacketItAcknowledges) {
  RecordRange(0, 3);
  Vector(1);
  AckOfAck(1);
  EXPECT_THAT(Vector(2), ElementsAre(AckCell(0, 0)));
}

// The Example Buffer of Appendix A with the acks 59 (up to packet 3) and 60 (up to packet 10).
class ExampleBufferTest : public AckVectorBufferTest {
 protected:
  ExampleBufferTest() {
    Record(0);
    Record(1, Ecn::kCe);
    Record(2, Ecn::kEct1);
    Record(3);
    EXPECT_THAT(WriteVector(buffer_, 59),
                ElementsAre(::testing::Field(&WrittenOption::type, OptionType::kAckVectorNonce1)));
    RecordRange(4, 6);
    Record(10);
    WriteVector(buffer_, 60);
  }
};

TEST_F(ExampleBufferTest, R4340_AV_14_AckOf59TrimsTheRunOfPacket3) {
  AckOfAck(59);
  const auto options = WriteVector(buffer_, 61);
  EXPECT_THAT(Cells(options), ElementsAre(AckCell(0, 0), AckCell(3, 2), AckCell(0, 2)));
  EXPECT_EQ(options[0].type, OptionType::kAckVectorNonce0);
  EXPECT_EQ(buffer_.window_start(), Seq64(4));
}

TEST_F(ExampleBufferTest, R4340_AV_14_LatePacketSurvivesAnEarlierAck) {
  Record(9);
  AckOfAck(60);
  EXPECT_THAT(Vector(61), ElementsAre(AckCell(0, 1)));
  EXPECT_FALSE(buffer_.AllAcknowledged());
  AckOfAck(61);
  EXPECT_TRUE(buffer_.AllAcknowledged());
}

TEST_F(ExampleBufferTest, R4340_AV_14_PacketLaterThanTheAckOfAckPullsTheWindowBack) {
  AckOfAck(60);
  EXPECT_TRUE(buffer_.AllAcknowledged());
  EXPECT_EQ(Record(8), RecordResult::kNew);
  EXPECT_FALSE(buffer_.AllAcknowledged());
  EXPECT_THAT(Vector(61), ElementsAre(AckCell(0, 0), AckCell(3, 0), AckCell(0, 0)));
}

TEST_F(ExampleBufferTest, AckOfUnknownOrRepeatedNumberChangesNothing) {
  AckOfAck(58);
  EXPECT_EQ(buffer_.window_start(), Seq64(0));
  AckOfAck(60);
  AckOfAck(59);
  EXPECT_EQ(buffer_.window_start(), Seq64(11));
}

TEST_F(AckVectorBufferTest, R4340_AV_15_NonceEchoIsTheParityOfUnmarkedNonces) {
  Record(0, Ecn::kEct1);
  EXPECT_EQ(WriteVector(buffer_, 1)[0].type, OptionType::kAckVectorNonce1);
  Record(1, Ecn::kEct0);
  Record(2, Ecn::kNotEct);
  Record(3, Ecn::kCe);
  EXPECT_EQ(WriteVector(buffer_, 2)[0].type, OptionType::kAckVectorNonce1);
  Record(4, Ecn::kEct1);
  EXPECT_EQ(WriteVector(buffer_, 3)[0].type, OptionType::kAckVectorNonce0);
}

TEST_F(AckVectorBufferTest, R4340_AV_16_EachOptionEchoesItsOwnNonces) {
  // Alternating states make 300 cells: the nonce of packet 299 is in the first option, that of
  // packet 1 in the second.
  for (std::int64_t seq = 0; seq < 300; ++seq) {
    const bool nonce = seq == 1 || seq == 299;
    Record(seq, seq % 2 == 0 ? Ecn::kCe : nonce ? Ecn::kEct1 : Ecn::kEct0);
  }
  auto options = WriteVector(buffer_, 1);
  ASSERT_THAT(options, SizeIs(2));
  EXPECT_EQ(options[0].type, OptionType::kAckVectorNonce1);
  EXPECT_EQ(options[1].type, OptionType::kAckVectorNonce1);
  AckOfAck(1);
  Record(300, Ecn::kEct1);
  options = WriteVector(buffer_, 2);
  ASSERT_THAT(options, SizeIs(1));
  EXPECT_EQ(options[0].type, OptionType::kAckVectorNonce1);
}

TEST_F(AckVectorBufferTest, Bug_D7_SplitsLongVectorsOverSeveralOptions) {
  for (std::int64_t seq = 0; seq < 520; ++seq) Record(seq, seq % 2 == 0 ? Ecn::kCe : Ecn::kEct0);
  EXPECT_EQ(buffer_.EncodedBytes(), 520u + 6u);
  const auto options = WriteVector(buffer_, 1);
  ASSERT_THAT(options, SizeIs(3));
  EXPECT_THAT(options[0].data, SizeIs(253));
  EXPECT_THAT(options[1].data, SizeIs(253));
  EXPECT_THAT(options[2].data, SizeIs(14));
  const auto states = StatesOf(options, 519);
  ASSERT_THAT(states, SizeIs(520));
  for (const auto& [seq, state] : states) {
    EXPECT_EQ(state, seq % 2 == 0 ? AckState::kMarked : AckState::kReceived);
  }
}

TEST_F(AckVectorBufferTest, Bug_D8_OverflowDropsTheOldestAndGoesOn) {
  AckVectorBuffer small(8);
  small.Start(Seq64(0));
  for (std::int64_t seq = 0; seq < 20; ++seq) {
    EXPECT_EQ(small.Record(Seq64(seq), seq % 2 == 0 ? Ecn::kCe : Ecn::kEct0, PacketType::kData),
              RecordResult::kNew);
  }
  EXPECT_EQ(small.runs(), 8u);
  EXPECT_EQ(small.overflowed(), 12u);
  EXPECT_THAT(StatesOf(WriteVector(small, 1), 19), SizeIs(8));
  EXPECT_EQ(small.Record(Seq64(3), Ecn::kEct0, PacketType::kData), RecordResult::kTooOld);
  small.OnAckOfAck(Seq64(1));
  EXPECT_TRUE(small.AllAcknowledged());
}

TEST_F(AckVectorBufferTest, Bug_D8_LatePacketInAFullBufferMakesRoomAtTheOldEnd) {
  AckVectorBuffer small(4);
  small.Start(Seq64(0));
  for (const std::int64_t seq : {0, 1, 10}) {
    small.Record(Seq64(seq), seq == 1 ? Ecn::kCe : Ecn::kEct0, PacketType::kData);
  }
  ASSERT_EQ(small.runs(), 4u);
  EXPECT_EQ(small.Record(Seq64(5), Ecn::kEct0, PacketType::kData), RecordResult::kNew);
  EXPECT_EQ(small.runs(), 4u);
  EXPECT_EQ(small.oldest(), Seq64(2));
  EXPECT_EQ(small.Record(Seq64(3), Ecn::kEct0, PacketType::kData), RecordResult::kTooOld);
}

TEST_F(AckVectorBufferTest, Bug_D9_HugeGapsCostOneRun) {
  Record(0);
  Record(1'000'000);
  EXPECT_EQ(buffer_.runs(), 3u);
  Record(std::int64_t{1} << 46);
  EXPECT_EQ(buffer_.runs(), 5u);
  // The missing packets at the old end of what a packet can hold are not written.
  EXPECT_THAT(Vector(1), ElementsAre(AckCell(0, 0)));
  EXPECT_EQ(Record((std::int64_t{1} << 46) - 1), RecordResult::kNew);
  EXPECT_EQ(Record(500'000), RecordResult::kNew);
}

TEST_F(AckVectorBufferTest, WindowTooLongForAnyPacketIsLetGoOnceThePeerAcknowledges) {
  Record(0);
  Record(1'000'000);
  Vector(1);
  AckOfAck(1);
  EXPECT_EQ(buffer_.window_start(), Seq64(1'000'001));
  EXPECT_EQ(buffer_.overflowed(), 1'000'000u);
}

TEST_F(AckVectorBufferTest, TruncatedVectorDoesNotMoveTheWindow) {
  for (std::int64_t seq = 0; seq < 40; ++seq) Record(seq, seq % 2 == 0 ? Ecn::kCe : Ecn::kEct0);
  const auto options = WriteVector(buffer_, 1, 12);
  EXPECT_THAT(Cells(options), SizeIs(10));
  AckOfAck(1);
  EXPECT_EQ(buffer_.window_start(), Seq64(0));
  EXPECT_THAT(Vector(2), SizeIs(40));
  AckOfAck(2);
  EXPECT_EQ(buffer_.window_start(), Seq64(40));
}

TEST_F(AckVectorBufferTest, NoRoomAtAllWritesNothing) {
  Record(0);
  EXPECT_THAT(WriteVector(buffer_, 1, 2), IsEmpty());
  AckOfAck(1);
  EXPECT_FALSE(buffer_.AllAcknowledged());
}

TEST_F(AckVectorBufferTest, AllAcknowledgedCountsDataPacketsOnly) {
  EXPECT_TRUE(buffer_.AllAcknowledged());
  Record(0, Ecn::kEct0, PacketType::kRequest);
  EXPECT_FALSE(buffer_.AllAcknowledged());
  Vector(1);
  AckOfAck(1);
  EXPECT_TRUE(buffer_.AllAcknowledged());
  Record(1, Ecn::kEct0, PacketType::kAck);
  EXPECT_TRUE(buffer_.AllAcknowledged());
  Record(2, Ecn::kEct0, PacketType::kDataAck);
  EXPECT_FALSE(buffer_.AllAcknowledged());
}

TEST_F(AckVectorBufferTest, AcksWithoutVectorsMoveTheWindowToo) {
  RecordRange(0, 4);
  buffer_.NoteAckSent(Seq64(1));
  AckOfAck(1);
  EXPECT_TRUE(buffer_.AllAcknowledged());
}

TEST_F(AckVectorBufferTest, ManyUnacknowledgedAcksStillServe) {
  for (std::int64_t i = 0; i < 2000; ++i) {
    Record(i);
    WriteVector(buffer_, i);
  }
  AckOfAck(1500);
  // Records were thinned: the one taken may be somewhat older, never newer.
  EXPECT_LE(buffer_.window_start(), Seq64(1501));
  EXPECT_GT(buffer_.window_start(), Seq64(1000));
  AckOfAck(1999);
  EXPECT_EQ(buffer_.window_start(), Seq64(2000));
}

TEST_F(AckVectorBufferTest, HistoryBelowTheWindowIsBounded) {
  for (std::int64_t seq = 0; seq < 1000; ++seq) Record(seq, seq % 2 == 0 ? Ecn::kCe : Ecn::kEct0);
  Vector(1);
  AckOfAck(1);
  Record(1000);
  EXPECT_LE(buffer_.runs(), 70u);
  EXPECT_EQ(Record(999), RecordResult::kDuplicate);
}

}  // namespace
}  // namespace dccp
