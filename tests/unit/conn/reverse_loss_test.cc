#include "stack/conn/reverse_loss.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

class ReverseLossTest : public ::testing::Test {
 protected:
  ReverseLossTest() { detector_.Start(Seq64(0)); }

  void Arrive(std::int64_t seq, std::optional<std::uint64_t> ndp = std::nullopt,
              PacketType type = PacketType::kAck, Ecn ecn = Ecn::kEct0) {
    detector_.OnPacket(Seq64(seq), type, ecn, ndp);
  }
  std::uint32_t Lost() { return detector_.Take().lost; }

  ReverseLossDetector detector_;
};

TEST_F(ReverseLossTest, NothingLostInSequence) {
  for (std::int64_t seq = 0; seq < 50; ++seq) Arrive(seq);
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(ReverseLossTest, R4341_AR_01_LostAfterThreeGreaterArrivals) {
  Arrive(0);
  Arrive(2);
  Arrive(3);
  EXPECT_EQ(Lost(), 0u);
  Arrive(4);
  EXPECT_EQ(Lost(), 1u);
  Arrive(5);
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(ReverseLossTest, R4341_AR_01_ReorderedPacketIsNotLost) {
  Arrive(0);
  Arrive(2);
  Arrive(3);
  Arrive(1);
  for (std::int64_t seq = 4; seq < 9; ++seq) Arrive(seq);
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(ReverseLossTest, R4341_AR_01_TwoGapsInARowAreBothSeen) {
  for (const std::int64_t seq : {0, 2, 4, 5, 6, 7}) Arrive(seq);
  EXPECT_EQ(Lost(), 2u);
}

TEST_F(ReverseLossTest, LossBeforeTheFirstPacketThatArrives) {
  for (const std::int64_t seq : {3, 4, 5}) Arrive(seq);
  EXPECT_EQ(Lost(), 3u);
}

TEST_F(ReverseLossTest, R4341_AR_02_UnknownLossesCountAsNonData) {
  for (const std::int64_t seq : {0, 4, 5, 6}) Arrive(seq, std::nullopt, PacketType::kDataAck);
  EXPECT_EQ(Lost(), 3u);
}

TEST_F(ReverseLossTest, R4341_AR_02_NdpCountTellsThatDataWasLost) {
  Arrive(0, 0);
  Arrive(2, 0);  // number 1 was a data packet
  Arrive(3, 0);
  Arrive(4, 0);
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(ReverseLossTest, R4340_NDP_05_NdpCountThatSpansTheGapTellsOfNonData) {
  Arrive(0, 0);
  Arrive(3, 2);
  Arrive(4, 0);
  Arrive(5, 0);
  EXPECT_EQ(Lost(), 2u);
  Arrive(9, 1);  // of 6, 7 and 8 the last was non-data, the one before it data
  Arrive(10, 0);
  Arrive(11, 0);
  EXPECT_EQ(Lost(), 2u);
}

TEST_F(ReverseLossTest, R4341_AR_02_OnlyMarksOfNonDataPacketsCount) {
  Arrive(0, std::nullopt, PacketType::kDataAck, Ecn::kCe);
  Arrive(1, std::nullopt, PacketType::kAck, Ecn::kCe);
  Arrive(2, std::nullopt, PacketType::kSync, Ecn::kCe);
  Arrive(3, std::nullopt, PacketType::kAck, Ecn::kEct1);
  EXPECT_EQ(detector_.Take().marked, 2u);
  EXPECT_EQ(detector_.Take().marked, 0u);
}

TEST_F(ReverseLossTest, HugeGapsSaturate) {
  const std::int64_t far = std::int64_t{1} << 46;
  for (const std::int64_t seq : {far, far + 1, far + 2, 2 * far, 2 * far + 1, 2 * far + 2}) {
    Arrive(seq);
  }
  EXPECT_EQ(Lost(), 0xFFFFFFFFu);
}

}  // namespace
}  // namespace dccp
