#include "stack/wire/short_seqno.h"

#include <gtest/gtest.h>

#include <random>

namespace dccp {
namespace {

TEST(ShortSeqno, R4340_SN_01_NearTheWrap) {
  EXPECT_EQ(ExtendSequenceNumber(0, SeqNo(0x000001FFFFFF)), SeqNo(0x000002000000));
  EXPECT_EQ(ExtendSequenceNumber(0xFFFFFF, SeqNo(0x000002000000)), SeqNo(0x000001FFFFFF));
  EXPECT_EQ(ExtendSequenceNumber(0xFFFFFF, SeqNo(5)), SeqNo(0xFFFFFFFFFFFF));
  EXPECT_EQ(ExtendSequenceNumber(3, SeqNo(0xFFFFFFFFFFFE)), SeqNo(3));
  EXPECT_EQ(ExtendSequenceNumber(0x123456, SeqNo(0xABCDEF123456)), SeqNo(0xABCDEF123456));
}

TEST(ShortSeqno, R4340_SN_01_HalfTheCircleAwayCountsAsAfter) {
  EXPECT_EQ(ExtendSequenceNumber(0x800000, SeqNo(0x000005000000)), SeqNo(0x000005800000));
  EXPECT_EQ(ExtendSequenceNumber(0, SeqNo(0x000005800000)), SeqNo(0x000006000000));
  EXPECT_EQ(ExtendSequenceNumber(0x800001, SeqNo(0x000005000000)), SeqNo(0x000004800001));
}

// Whatever the reference, a number less than half of 2^24 away is found again.
TEST(ShortSeqno, R4340_SN_01_InvertsTruncation) {
  std::mt19937_64 rng(24);
  constexpr std::int64_t kHalf = 1 << 23;
  for (int i = 0; i < 200000; ++i) {
    // Every other reference lies within a few of a wrap of the low or of all bits.
    const std::uint64_t near_wrap = (rng() << 24) + rng() % 16 - 8;
    const SeqNo ref(i % 2 == 0 ? rng() : near_wrap);
    const auto distance = static_cast<std::int64_t>(rng() % (2 * kHalf)) - kHalf + 1;
    const SeqNo number = ref + distance;
    ASSERT_EQ(ExtendSequenceNumber(number.low24(), ref), number)
        << ref.value() << " + " << distance;
  }
}

TEST(ShortSeqno, BitsAbove24AreIgnored) {
  EXPECT_EQ(ExtendSequenceNumber(0xFF000007, SeqNo(6)), SeqNo(7));
}

}  // namespace
}  // namespace dccp
