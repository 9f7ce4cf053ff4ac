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

}  // namespace
}  // namespace dccp
