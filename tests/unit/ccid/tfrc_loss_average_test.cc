#include "ccid/tfrc/loss_average.h"

#include <gtest/gtest.h>

#include <vector>

namespace dccp::tfrc {
namespace {

std::vector<double> With(double open, std::size_t n, double closed) {
  std::vector<double> lengths = {open};
  lengths.insert(lengths.end(), n, closed);
  return lengths;
}

double Plain(const std::vector<double>& lengths) {
  LossAverage average(HistoryDiscounting::kOff);
  return average.Rate(lengths, 0);
}

TEST(LossAverage, R5348_LOSS_05_LOSS_06_WeightedMeanOfEightIntervals) {
  EXPECT_NEAR(1 / Plain(With(10, 8, 100)), 100, 1e-9);
  EXPECT_NEAR(1 / Plain(With(500, 8, 100)), 166.667, 1e-3);
  EXPECT_NEAR(1 / Plain({5, 40}), 40, 1e-9);
  EXPECT_NEAR(1 / Plain({50, 40}), 50, 1e-9);
  EXPECT_NEAR(1 / Plain({20, 80, 60}), 70, 1e-9);
}

TEST(LossAverage, R5348_LOSS_05_AnIntervalWeighsLessFromTheFifthOn) {
  // One long interval that grows older: 100 (1 + 9 w / 6).
  const double kMeans[] = {250, 250, 250, 250, 220, 190, 160, 130};
  for (std::size_t i = 1; i <= 8; ++i) {
    std::vector<double> lengths = With(1, 8, 100);
    lengths[i] = 1000;
    EXPECT_NEAR(1 / Plain(lengths), kMeans[i - 1], 1e-6) << i;
  }
}

TEST(LossAverage, R5348_LOSS_05_NothingOlderThanEightCounts) {
  std::vector<double> lengths = With(1, 8, 100);
  lengths.push_back(1e6);
  EXPECT_NEAR(1 / Plain(lengths), 100, 1e-9);
}

TEST(LossAverage, R5348_LOSS_07_NoLossNoAverage) {
  EXPECT_EQ(Plain({}), 0);
  EXPECT_EQ(Plain({12345}), 0);
}

TEST(LossAverage, Bug_E19_EmptyIntervalsAreOnePacket) {
  EXPECT_EQ(Plain({0, 0, 0}), 1);
  EXPECT_EQ(Plain(With(-5, 8, 0)), 1);
}

TEST(LossAverage, R5348_HD_01_HD_02_ALongOpenIntervalDiscountsTheRest) {
  LossAverage average(HistoryDiscounting::kOn);
  // DF = 2 * 100 / 500; (1 + 5 * 0.4) / (500 + 500 * 0.4).
  EXPECT_NEAR(average.Rate(With(500, 8, 100), 0), 0.0042857, 1e-6);
  // Not below a quarter: (1 + 5 / 4) / (10000 + 500 / 4).
  EXPECT_NEAR(average.Rate(With(10000, 8, 100), 0), 2.25 / 10125, 1e-9);
  // At twice the mean or less nothing is discounted.
  EXPECT_NEAR(average.Rate(With(200, 8, 100), 0), Plain(With(200, 8, 100)), 1e-12);
}

TEST(LossAverage, R5348_HD_03_TheDiscountOutlivesTheLossEvent) {
  LossAverage average(HistoryDiscounting::kOn);
  average.Rate(With(500, 8, 100), 0);
  std::vector<double> lengths = With(1, 8, 100);
  lengths[1] = 500;
  // The closed interval of 500 has weight 1, the others theirs times 0.4.
  const double weights = 1 + 0.4 * 5;
  EXPECT_NEAR(average.Rate(lengths, 1), weights / (500 + 0.4 * 500), 1e-9);
  // Without history discounting the same lengths give a mean of 166.7.
  EXPECT_NEAR(1 / Plain(lengths), 1000.0 / 6, 1e-3);
}

TEST(LossAverage, R5348_HD_03_TwoEventsAtOnceAreTakenOneByOne) {
  LossAverage one(HistoryDiscounting::kOn);
  LossAverage two(HistoryDiscounting::kOn);
  std::vector<double> first = With(1, 8, 100);
  first[1] = 500;
  one.Rate(first, 1);
  std::vector<double> second = With(1, 8, 100);
  second[1] = 300;
  second[2] = 500;
  EXPECT_NEAR(one.Rate(second, 1), two.Rate(second, 2), 1e-12);
}

}  // namespace
}  // namespace dccp::tfrc
