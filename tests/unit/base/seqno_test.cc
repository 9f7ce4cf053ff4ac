#include "dccp/seqno.h"

#include <array>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace dccp {
namespace {

constexpr std::uint64_t kModulus = std::uint64_t{1} << 48;
constexpr std::int64_t kHalf = std::int64_t{1} << 47;

// Around the places where 48, 47, 32, 24 and 16 bits end.
std::vector<std::uint64_t> Landmarks() {
  std::vector<std::uint64_t> values;
  for (const std::uint64_t center :
       {std::uint64_t{0}, std::uint64_t{1} << 16, std::uint64_t{1} << 24, std::uint64_t{1} << 32,
        std::uint64_t{1} << 47, kModulus}) {
    for (std::uint64_t d = 0; d < 5; ++d) values.push_back((center + d - 2) % kModulus);
  }
  return values;
}

TEST(SeqNo, R4340_GEN_02_KeepsTheLow48Bits) {
  EXPECT_EQ(SeqNo(kModulus).value(), 0u);
  EXPECT_EQ(SeqNo(~std::uint64_t{0}).value(), kModulus - 1);
  EXPECT_EQ(SeqNo(0x123456789ABC).low24(), 0x789ABCu);
}

TEST(SeqNo, R4340_GEN_02_AdditionWrapsAtTwoToThe48) {
  EXPECT_EQ(SeqNo(kModulus - 1) + 1, SeqNo(0));
  EXPECT_EQ(SeqNo(0) + -1, SeqNo(kModulus - 1));
  EXPECT_EQ(SeqNo(5) + -10, SeqNo(kModulus - 5));
}

TEST(SeqNo, R4340_GEN_02_DistanceUndoesAddition) {
  std::mt19937_64 rng(1);
  std::uniform_int_distribution<std::int64_t> any_distance(-kHalf + 1, kHalf);
  for (const std::uint64_t start : Landmarks()) {
    for (const std::int64_t d : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, kHalf,
                                 kHalf - 1, -kHalf + 1, any_distance(rng)}) {
      EXPECT_EQ((SeqNo(start) + d).Minus(SeqNo(start)), d) << start;
    }
  }
}

TEST(SeqNo, R4340_GEN_02_DistanceIsAntisymmetricBelowHalfTheCircle) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 10000; ++i) {
    const SeqNo a(rng());
    const SeqNo b(rng());
    if (a.Minus(b) == kHalf) continue;
    EXPECT_EQ(a.Minus(b), -b.Minus(a)) << a.value() << " " << b.value();
  }
}

TEST(SeqNo, R4340_GEN_02_OrderNearTheSeamIsCircular) {
  const SeqNo before(kModulus - 2);
  const SeqNo after(3);
  EXPECT_EQ(after.Minus(before), 5);
  EXPECT_EQ(before.Minus(after), -5);
}

TEST(SeqNo, Bug_A13_OppositePointsHaveOneAnswer) {
  for (const std::uint64_t v : Landmarks()) {
    const SeqNo a(v);
    const SeqNo b = a + kHalf;
    // "Before" in both directions at once was the bug; here neither is before the other.
    EXPECT_EQ(a.Minus(b), kHalf);
    EXPECT_EQ(b.Minus(a), kHalf);
  }
}

TEST(SeqNo, Bug_A13_SuccessorHoldsAcrossEverySixteenBitBoundary) {
  for (std::uint64_t high = 0; high < 64; ++high) {
    const std::uint64_t v = high << 16;
    EXPECT_EQ(SeqNo(v).Minus(SeqNo(v) + -1), 1) << v;
    EXPECT_EQ(SeqNo(v) + -1 + 1, SeqNo(v)) << v;
  }
  EXPECT_EQ(SeqNo(0x123456710000).Minus(SeqNo(0x12345670FFFF)), 1);
}

TEST(Seq64, UnwrapFindsTheNearestNumberOnEitherSide) {
  std::mt19937_64 rng(3);
  std::uniform_int_distribution<std::int64_t> any_distance(-kHalf + 1, kHalf);
  for (const std::uint64_t start : Landmarks()) {
    const Seq64 reference = Seq64::FromInitial(SeqNo(start));
    for (const std::int64_t d :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, kHalf, any_distance(rng)}) {
      const Seq64 wanted = reference + d;
      EXPECT_EQ(Seq64::Unwrap(wanted.Wrap(), reference), wanted);
    }
  }
}

TEST(Seq64, CountsOnAcrossTheSeam) {
  Seq64 n = Seq64::FromInitial(SeqNo(kModulus - 1));
  const Seq64 before = n;
  ++n;
  EXPECT_GT(n, before);
  EXPECT_EQ(n.Wrap(), SeqNo(0));
  EXPECT_EQ(n - before, 1);
  EXPECT_EQ(Seq64::Unwrap(SeqNo(0), before), n);
}

TEST(Seq64, NumbersBeforeTheFirstStayPositive) {
  const Seq64 first = Seq64::FromInitial(SeqNo(0));
  const Seq64 earlier = Seq64::Unwrap(SeqNo(kModulus - 1), first);
  EXPECT_EQ(earlier, first - 1);
  EXPECT_GT(earlier.value(), 0);
}

}  // namespace
}  // namespace dccp
