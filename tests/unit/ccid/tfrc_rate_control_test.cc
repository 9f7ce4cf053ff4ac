#include "ccid/tfrc/rate_control.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ccid/common/tfrc_equation.h"
#include "ccid/tfrc/receive_rate_set.h"

namespace dccp::tfrc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Path = RateControl::Path;
using Since = RateControl::Since;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr Path kPath{1000, 0.1};

RateControl::Report At(Duration since_start, double p, double x_recv) {
  RateControl::Report report;
  report.now = kStart + since_start;
  report.p = p;
  report.x_recv = x_recv;
  return report;
}

// The loss event rate at which the equation gives `x` on kPath.
double RateFor(double x) { return TfrcLossEventRate(x * kPath.r / kPath.s); }

RateControl Started(const Path& path = kPath) {
  RateControl rate;
  rate.Start(path, kStart);
  return rate;
}

TEST(RateControl, R5348_SND_01_APacketASecondWithoutARoundTrip) {
  EXPECT_EQ(Started({1000, 0}).x(), 1000);
  EXPECT_EQ(Started({1, 0}).x(), 1);
}

TEST(RateControl, R5348_SND_02_R4342_GEN_03_Bug_E8_InitialRate) {
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({100, 0.1}), 4000);
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({500, 0.1}), 20000);
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({1095, 0.1}), 43800);
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({1460, 0.1}), 43800);
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({2190, 0.1}), 43800);
  EXPECT_DOUBLE_EQ(RateControl::InitialRate({3000, 0.1}), 60000);
  RateControl rate = Started({1000, 0});
  rate.OnFirstRtt(kPath, kStart);
  EXPECT_DOUBLE_EQ(rate.x(), 40000);
}

TEST(RateControl, R5348_SND_06_TheFirstTwoRoundTripsAreNotLimitedByTheReceiver) {
  RateControl rate = Started();
  rate.OnFeedback(At(milliseconds(100), 0, 0), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 80000);
  rate.OnFeedback(At(milliseconds(200), 0, 1), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 160000);
  rate.OnFeedback(At(milliseconds(301), 0, 100000), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 200000);
}

TEST(RateControl, R5348_FB_04_DoublesOnceARoundTrip) {
  RateControl rate = Started();
  rate.OnFeedback(At(milliseconds(99), 0, 0), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 40000);
  rate.OnFeedback(At(milliseconds(100), 0, 0), kPath);
  rate.OnFeedback(At(milliseconds(150), 0, 0), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 80000);
  rate.OnFeedback(At(milliseconds(200), 0, 0), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 160000);
}

TEST(RateControl, R5348_FB_04_NeverBelowTheInitialRateWithoutLoss) {
  RateControl rate = Started();
  for (int i = 1; i < 9; ++i) rate.OnFeedback(At(i * milliseconds(150), 0, 10), kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 40000);
}

TEST(RateControl, R5348_FB_02_FB_03_Bug_E7_TheNewLossRateAndReceiveRateCount) {
  RateControl rate = Started();
  const double p = RateFor(100000);
  rate.OnFeedback(At(milliseconds(900), p, 70000), kPath);
  EXPECT_NEAR(rate.x(), 100000, 1);
  rate.OnFeedback(At(milliseconds(1200), p, 30000), kPath);  // the old ones are too old
  EXPECT_NEAR(rate.x(), 60000, 1);
  EXPECT_NEAR(rate.x_bps(), 100000, 1);
}

TEST(RateControl, R5348_FB_03_R4342_GEN_05_APacketInSixtyFourSecondsAtLeast) {
  RateControl rate = Started();
  rate.OnFeedback(At(milliseconds(900), 1, 0), {1000, 1000});
  EXPECT_DOUBLE_EQ(rate.x(), 1000.0 / 64);
}

// Feedback of a round trip without data reports a receive rate of zero.
TEST(RateControl, R5348_FB_07_Bug_E29_AReceiveRateOfZeroIsTaken) {
  RateControl rate = Started();
  RateControl::Report report = At(milliseconds(100), 0, 0);
  report.data_limited = true;
  rate.OnFeedback(report, kPath);
  EXPECT_DOUBLE_EQ(rate.x(), 80000);  // infinity is still there
  report = At(milliseconds(900), 0.1, 0);
  rate.OnFeedback(report, kPath);
  EXPECT_GT(rate.x(), 0);
}

TEST(RateControl, R5348_FB_01_ADataLimitedIntervalDoesNotLowerTheLimit) {
  RateControl rate = Started();
  const double p = RateFor(500000);
  rate.OnFeedback(At(milliseconds(900), p, 200000), kPath);
  RateControl::Report report = At(milliseconds(1900), p, 10000);
  report.data_limited = true;
  rate.OnFeedback(report, kPath);
  EXPECT_NEAR(rate.x(), 400000, 1);
  EXPECT_NEAR(rate.x_recv(), 200000, 1);
}

TEST(RateControl, R5348_FB_01_FB_05_LossInADataLimitedIntervalHalvesTheLimit) {
  RateControl rate = Started();
  const double p = RateFor(500000);
  rate.OnFeedback(At(milliseconds(900), p, 200000), kPath);
  RateControl::Report report = At(milliseconds(1900), p, 10000);
  report.data_limited = true;
  report.more_loss = true;
  rate.OnFeedback(report, kPath);
  EXPECT_NEAR(rate.x(), 100000, 1);  // the larger of 200000 / 2 and 0.85 * 10000, not doubled
  report.x_recv = 150000;
  report.now += seconds(1);
  rate.OnFeedback(report, kPath);
  EXPECT_NEAR(rate.x(), 0.85 * 150000, 1);
}

TEST(RateControl, R5348_NF_01_WithoutAnyFeedbackHalvedDownToAPacketInSixtyFourSeconds) {
  const Path path{1000, 0};
  RateControl rate = Started(path);
  for (double expected = 500; expected >= 1000.0 / 64; expected /= 2) {
    EXPECT_TRUE(rate.OnNoFeedback(Since::kSent, false, path, kStart));
    EXPECT_DOUBLE_EQ(rate.x(), expected);
  }
  rate.OnNoFeedback(Since::kSent, false, path, kStart);
  EXPECT_DOUBLE_EQ(rate.x(), 1000.0 / 64);
}

TEST(RateControl, R5348_NF_02_R4342_IDLE_01_SilenceOfOurOwnDoesNotGoBelowTheInitialRate) {
  RateControl rate = Started();
  for (int i = 1; i <= 6; ++i) rate.OnFeedback(At(i * milliseconds(100), 0, 1e9), kPath);
  ASSERT_GT(rate.x(), 1e6);
  int halved = 0;
  while (halved < 50 && rate.OnNoFeedback(Since::kIdle, true, kPath, kStart)) ++halved;
  EXPECT_EQ(halved, 6);
  EXPECT_GE(rate.x(), 40000);
  EXPECT_LT(rate.x(), 80000);
}

TEST(RateControl, R5348_NF_02_WithLossSilenceStopsHalvingWhereTheReceiveRateIsLow) {
  RateControl rate = Started();
  rate.OnFeedback(At(milliseconds(900), RateFor(500000), 200000), kPath);
  int halved = 0;
  while (halved < 50 && rate.OnNoFeedback(Since::kIdle, true, kPath, kStart)) ++halved;
  EXPECT_GT(halved, 1);
  EXPECT_LT(halved, 50);
  EXPECT_LT(rate.x_recv(), 40000);
  EXPECT_GE(rate.x_recv(), 20000);
}

TEST(RateControl, R5348_NF_03_NF_08_InSlowStartTheRateIsHalved) {
  RateControl rate = Started();
  EXPECT_TRUE(rate.OnNoFeedback(Since::kSent, true, kPath, kStart));
  EXPECT_DOUBLE_EQ(rate.x(), 20000);
}

TEST(RateControl, R5348_NF_04_NF_05_NF_06_HalvesWhatLimitsTheRate) {
  RateControl by_receiver = Started();
  by_receiver.OnFeedback(At(milliseconds(900), RateFor(100000), 20000), kPath);
  by_receiver.OnNoFeedback(Since::kSent, true, kPath, kStart);
  EXPECT_NEAR(by_receiver.x(), 20000, 1);
  RateControl by_equation = Started();
  by_equation.OnFeedback(At(milliseconds(900), RateFor(30000), 20000), kPath);
  by_equation.OnNoFeedback(Since::kSent, true, kPath, kStart);
  EXPECT_NEAR(by_equation.x(), 15000, 1);
  EXPECT_NEAR(by_equation.x_recv(), 7500, 1);
  for (int i = 0; i < 20; ++i) by_equation.OnNoFeedback(Since::kSent, true, kPath, kStart);
  EXPECT_NEAR(by_equation.x(), 1000.0 / 64, 1e-6);
}

TEST(RateControl, R4342_DD_02_SlowReceiverHoldsTheRateAtWhatArrives) {
  RateControl rate = Started();
  const double p = RateFor(500000);
  rate.OnFeedback(At(milliseconds(900), p, 200000), kPath);
  RateControl::Report report = At(milliseconds(1000), p, 200000);
  report.x_drop = 200000;
  rate.OnFeedback(report, kPath);
  EXPECT_NEAR(rate.x(), 200000, 1);
  rate.OnFeedback(At(milliseconds(1100), p, 200000), kPath);
  EXPECT_NEAR(rate.x(), 400000, 1);  // and no longer than that
}

TEST(RateControl, R4342_DD_01_ReducedByPacketsButNotBelowOneARoundTrip) {
  RateControl rate = Started();
  rate.Reduce(3 * 10000, 10000);
  EXPECT_DOUBLE_EQ(rate.x(), 10000);
  rate.Reduce(10000, 10000);
  EXPECT_DOUBLE_EQ(rate.x(), 10000);
  rate.Reduce(10000, 20000);  // a rate that is lower already is not raised
  EXPECT_DOUBLE_EQ(rate.x(), 10000);
}

TEST(RateControl, Bug_E9_E11_FromAByteToTenGigabytesASecond) {
  RateControl tiny = Started({1, 1});
  EXPECT_DOUBLE_EQ(tiny.x(), 4);
  tiny.OnFeedback(At(seconds(9), 0.5, 100), {1, 1});
  EXPECT_NEAR(tiny.x(), 1 / 23.960036, 1e-6);
  const Path fast{9000, 1e-5};
  RateControl huge = Started(fast);
  huge.OnFeedback(At(seconds(9), 1e-7, 1e11), fast);
  EXPECT_GT(huge.x(), 1e11);
}

TEST(ReceiveRateSet, R5348_FB_06_ForgetsWhatIsOlderThanTwoRoundTrips) {
  ReceiveRateSet set;
  set.Start(kStart);
  set.Update(500, kStart + milliseconds(100), milliseconds(100));
  EXPECT_TRUE(std::isinf(set.Max()));
  set.Update(300, kStart + milliseconds(201), milliseconds(100));
  EXPECT_EQ(set.Max(), 500);
  set.Update(200, kStart + milliseconds(301), milliseconds(100));
  EXPECT_EQ(set.Max(), 300);
}

TEST(ReceiveRateSet, R5348_FB_05_MaximizeKeepsTheLargestAndDropsInfinity) {
  ReceiveRateSet set;
  set.Start(kStart);
  set.Maximize(100, kStart);
  EXPECT_EQ(set.Max(), 100);
  set.Maximize(50, kStart + seconds(5));
  EXPECT_EQ(set.Max(), 100);
  // Its time is now: two round trips later it still counts.
  set.Update(10, kStart + seconds(5) + milliseconds(200), milliseconds(100));
  EXPECT_EQ(set.Max(), 100);
}

TEST(ReceiveRateSet, ManyFeedbacksInARoundTripLeaveTheLargest) {
  ReceiveRateSet set;
  set.Replace(0, kStart);
  for (int i = 0; i < 100; ++i) set.Update((i * 37) % 100, kStart, seconds(1));
  EXPECT_EQ(set.Max(), 99);
  set.Update(1, kStart + seconds(3), seconds(1));
  EXPECT_EQ(set.Max(), 1);
}

}  // namespace
}  // namespace dccp::tfrc
