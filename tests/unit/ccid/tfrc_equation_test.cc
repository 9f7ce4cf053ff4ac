#include "ccid/common/tfrc_equation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dccp {
namespace {

using std::chrono::milliseconds;

// s / (R sqrt(2p/3) + 4R 3 sqrt(3p/8) p (1 + 32 p^2)) by hand, for s = 1000, R = 0.1, p = 0.01.
TEST(TfrcEquation, AgreesWithAValueWorkedOutByHand) {
  EXPECT_NEAR(TfrcThroughput(1000, milliseconds(100), 0.01), 112332.2, 0.1);
}

TEST(TfrcEquation, FallsWithTheSquareRootOfSmallLoss) {
  const double low = TfrcThroughput(1000, milliseconds(100), 1e-6);
  const double high = TfrcThroughput(1000, milliseconds(100), 4e-6);
  EXPECT_NEAR(low / high, 2.0, 0.001);
}

TEST(TfrcEquation, IsInverselyProportionalToTheRoundTrip) {
  EXPECT_NEAR(TfrcThroughput(1000, milliseconds(10), 0.1),
              10 * TfrcThroughput(1000, milliseconds(100), 0.1), 1e-6);
}

TEST(TfrcEquation, HasNoLimitWithoutLoss) {
  EXPECT_TRUE(std::isinf(TfrcThroughput(1000, milliseconds(10), 0)));
}

TEST(TfrcEquation, TakesARateAboveOneAsOne) {
  EXPECT_EQ(TfrcThroughput(1000, milliseconds(10), 3), TfrcThroughput(1000, milliseconds(10), 1));
}

// 1 / f(p) is the rate in packets a round trip.
TEST(TfrcEquation, R5348_EQ_01_EQ_02_EQ_03_EQ_04_Vectors) {
  struct Vector {
    double p;
    double f;
  };
  constexpr Vector kVectors[] = {{1e-5, 0.002582221}, {1e-4, 0.008172314}, {1e-3, 0.026052275},
                                 {0.01, 0.089021642}, {0.02, 0.136520707}, {0.05, 0.271305240},
                                 {0.1, 0.564939171},  {0.2, 1.863717289},  {0.3, 5.132223222},
                                 {0.5, 23.960036171}, {1.0, 243.315981116}};
  for (const Vector& v : kVectors)
    EXPECT_NEAR(1 / TfrcThroughput(1, std::chrono::seconds(1), v.p), v.f, v.f * 1e-6) << v.p;
  EXPECT_NEAR(TfrcThroughput(1460, milliseconds(100), 0.01), 164005.06, 0.01);
}

// A table that ends at some loss rate gives one rate for all below it.
TEST(TfrcEquation, Bug_E12_HasNoSmallestLossRate) {
  const double at = TfrcThroughput(1460, milliseconds(100), 1e-6);
  EXPECT_NEAR(TfrcThroughput(1460, milliseconds(100), 1e-8) / at, 10, 0.01);
}

TEST(TfrcEquation, Bug_E13_NoLossAndMoreThanAllLost) {
  EXPECT_TRUE(std::isinf(TfrcThroughput(1460, milliseconds(100), -1)));
  EXPECT_GT(TfrcThroughput(1460, milliseconds(100), 100), 0);
}

// A rate above 2^32 bytes a second, and one below a byte a second.
TEST(TfrcEquation, Bug_E11_NoRateIsTooLargeOrTooSmall) {
  EXPECT_NEAR(TfrcThroughput(9000, std::chrono::microseconds(10), 1e-6), 1.1022e12, 1e9);
  EXPECT_NEAR(TfrcThroughput(1, std::chrono::seconds(10), 1), 1 / 2433.16, 1e-7);
}

TEST(TfrcLossEventRate, R5348_RCV_06_InvertsTheEquation) {
  for (double p : {1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99})
    EXPECT_NEAR(TfrcLossEventRate(TfrcThroughput(1, std::chrono::seconds(1), p)), p, p * 1e-6);
  EXPECT_NEAR(1 / TfrcLossEventRate(146000 * 0.1 / 1460), 82.15, 0.01);
  EXPECT_NEAR(1 / TfrcLossEventRate(1460000 * 0.1 / 1460), 6684.6, 0.1);
  EXPECT_NEAR(1 / TfrcLossEventRate(100000 * 0.05 / 1000), 29.09, 0.01);
}

TEST(TfrcLossEventRate, R5348_RCV_07_HalfAPacketARoundTrip) {
  EXPECT_NEAR(1 / TfrcLossEventRate(0.5), 4.844, 0.001);
}

TEST(TfrcLossEventRate, Bug_E19_AnyArgumentGivesARate) {
  for (double x : {0.0, -1.0, 1e-300, std::nan(""), 1e300, HUGE_VAL}) {
    const double p = TfrcLossEventRate(x);
    EXPECT_GT(p, 0) << x;
    EXPECT_LE(p, 1) << x;
  }
}

}  // namespace
}  // namespace dccp
