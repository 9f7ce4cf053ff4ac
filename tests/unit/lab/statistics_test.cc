#include "stack/lab/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace dccp::lab {
namespace {

// Values of the usual tables.
TEST(Statistics, StudentT) {
  EXPECT_NEAR(StudentT975(1), 12.706, 0.001);
  EXPECT_NEAR(StudentT975(10), 2.228, 0.001);
  EXPECT_NEAR(StudentT975(11), 2.201, 0.001);
  EXPECT_NEAR(StudentT975(19), 2.093, 0.001);
  EXPECT_NEAR(StudentT975(39), 2.023, 0.001);
  EXPECT_NEAR(StudentT975(1'000'000), 1.960, 0.001);
  EXPECT_TRUE(std::isinf(StudentT975(0)));
}

TEST(Statistics, Estimate) {
  const std::array<double, 4> values = {1, 2, 3, 6};
  const Estimate e = EstimateOf(values);
  EXPECT_EQ(e.n, 4u);
  EXPECT_DOUBLE_EQ(e.mean, 3);
  EXPECT_NEAR(e.sd, std::sqrt(14.0 / 3), 1e-12);
  EXPECT_NEAR(e.half_width, 3.1824 * std::sqrt(14.0 / 3) / 2, 1e-4);
  EXPECT_EQ(e.least, 1);
  EXPECT_EQ(e.most, 6);
  EXPECT_TRUE(std::isinf(EstimateOf(std::array<double, 1>{5}).half_width));
  EXPECT_EQ(EstimateOf({}).n, 0u);
}

TEST(Statistics, JainIndex) {
  EXPECT_DOUBLE_EQ(JainIndex(std::array<double, 3>{2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(JainIndex(std::array<double, 4>{1, 0, 0, 0}), 0.25);
  EXPECT_NEAR(JainIndex(std::array<double, 2>{1, 3}), 0.8, 1e-12);
  EXPECT_EQ(JainIndex({}), 1);
}

TEST(Statistics, RunningMoments) {
  RunningMoments moments;
  EXPECT_EQ(moments.variation(), 0);
  for (const double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) moments.Add(1e6 + x);
  EXPECT_DOUBLE_EQ(moments.mean(), 1e6 + 5);
  EXPECT_NEAR(moments.sd(), std::sqrt(32.0 / 7), 1e-9);
}

}  // namespace
}  // namespace dccp::lab
