// The window counter of the sender, and the receiver's round-trip time.
#include <gtest/gtest.h>

#include "ccid/ccid3/receive_rate_meter.h"
#include "ccid/ccid3/receiver_rtt.h"
#include "ccid/ccid3/window_counter.h"

namespace dccp::ccid3 {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr Duration kRtt = milliseconds(100);

TEST(WindowCounter, R4342_WC_01_WC_02_CountsQuartersOfARoundTrip) {
  WindowCounter counter;
  TimePoint now = kStart;
  EXPECT_EQ(counter.Next(Seq64(1), now, kRtt), 0u);
  EXPECT_EQ(counter.Next(Seq64(2), now += milliseconds(10), kRtt), 0u);
  EXPECT_EQ(counter.Next(Seq64(3), now += milliseconds(20), kRtt), 1u);
  EXPECT_EQ(counter.Next(Seq64(4), now += milliseconds(100), kRtt), 5u);
  EXPECT_EQ(counter.Next(Seq64(5), now += milliseconds(24), kRtt), 5u);
}

TEST(WindowCounter, R4342_WC_02_WC_03_AtMostFiveFromOnePacketToTheNext) {
  WindowCounter counter;
  counter.Next(Seq64(1), kStart, kRtt);
  EXPECT_EQ(counter.Next(Seq64(2), kStart + seconds(1000), kRtt), 5u);
  // An acknowledgement and a silence together, too.
  counter.OnAcked(Seq64(2));
  EXPECT_EQ(counter.Next(Seq64(3), kStart + seconds(2000), kRtt), 10u);
}

TEST(WindowCounter, R4342_WC_04_AnAcknowledgementMovesItOnByARoundTrip) {
  WindowCounter counter;
  counter.Next(Seq64(1), kStart, kRtt);
  counter.OnAcked(Seq64(1));
  EXPECT_EQ(counter.Next(Seq64(2), kStart + milliseconds(1), kRtt), 4u);
  counter.OnAcked(Seq64(1));  // not again
  EXPECT_EQ(counter.Next(Seq64(3), kStart + milliseconds(2), kRtt), 4u);
}

TEST(WindowCounter, RemembersWhatPacketsWereSentWith) {
  WindowCounter counter;
  for (int i = 0; i < 1000; ++i) counter.Next(Seq64(i), kStart + i * milliseconds(10), kRtt);
  EXPECT_EQ(counter.Of(Seq64(999)), 333u);
  EXPECT_EQ(counter.Of(Seq64(900)), 300u);
  EXPECT_EQ(counter.Of(Seq64(899)), 299u);
  EXPECT_EQ(counter.Of(Seq64(0)), counter.Of(Seq64(700)));  // the oldest known
}

TEST(WindowCounter, Bug_E25_ARoundTripOfNothingIsHarmless) {
  WindowCounter counter;
  counter.Next(Seq64(1), kStart, Duration::zero());
  EXPECT_EQ(counter.Next(Seq64(2), kStart, Duration::zero()), 0u);
  EXPECT_EQ(counter.Next(Seq64(3), kStart + seconds(1), Duration::zero()), 5u);
}

TEST(ReceiverRtt, R4342_WC_05_FromTheFirstPacketsOfTwoCounters) {
  ReceiverRtt rtt(Duration::zero());
  EXPECT_EQ(rtt.value(), kDefaultRtt);
  // The picture of RFC 4342 §8.1: K-1 K-1 K K K+1 K+3 K+4, with K = 8, from T1 to T7.
  const std::pair<std::uint64_t, int> arrivals[] = {{7, 0},  {7, 10},  {8, 20},  {8, 25},
                                                    {9, 50}, {11, 95}, {12, 120}};
  for (const auto& [counter, ms] : arrivals) rtt.OnCounter(counter, kStart + milliseconds(ms));
  EXPECT_EQ(rtt.samples(), 3u);
  // (50 - 0) * 4 / 2 by 7 and 9, (95 - 0) by 7 and 11, (120 - 20) by 8 and 12.
  const double expected = 0.9 * (0.9 * 100 + 0.1 * 95) + 0.1 * 100;
  EXPECT_NEAR(tfrc::Seconds(rtt.value()) * 1000, expected, 0.001);
}

TEST(ReceiverRtt, R4342_WC_05_StepsOfFiveMeasureNothing) {
  ReceiverRtt rtt(milliseconds(33));
  for (int i = 0; i < 50; ++i)
    rtt.OnCounter(static_cast<std::uint64_t>(5 * i), kStart + i * seconds(9));
  EXPECT_EQ(rtt.samples(), 0u);
  EXPECT_EQ(rtt.value(), milliseconds(33));
  // Nor does a difference across one.
  rtt.OnCounter(246, kStart + seconds(451));
  EXPECT_EQ(rtt.samples(), 0u);
}

// Candidates that are kept until they fit give few samples: 394 of 38442 packets in one stack.
TEST(ReceiverRtt, Bug_E23_ASampleForEachCounter) {
  ReceiverRtt rtt(Duration::zero());
  WindowCounter sender;
  std::uint64_t counters = 0;
  for (int i = 0; i < 4000; ++i) {
    const TimePoint now = kStart + i * milliseconds(1);
    const std::uint64_t before = counters;
    counters = sender.Next(Seq64(i), now, kRtt);
    if (counters != before || i == 0) rtt.OnCounter(counters, now);
  }
  EXPECT_GE(rtt.samples(), counters - 2);
  EXPECT_EQ(rtt.value(), kRtt);
}

TEST(ReceiverRtt, R6323_ROB_01_HalfASecondUntilTheFirstNumber) {
  ReceiverRtt rtt(milliseconds(10));
  EXPECT_EQ(rtt.value(), milliseconds(10));
  EXPECT_FALSE(rtt.reported());
  rtt.SetReported(true);
  EXPECT_EQ(rtt.value(), milliseconds(500));
  rtt.OnReport({RttEstimate::kNone}, kStart);
  EXPECT_EQ(rtt.value(), milliseconds(500));
  rtt.OnReport({20000}, kStart);
  EXPECT_EQ(rtt.value(), milliseconds(20));
}

TEST(ReceiverRtt, R6323_USE_03_AMovingAverage) {
  ReceiverRtt rtt(Duration::zero());
  rtt.SetReported(true);
  rtt.OnReport({100000}, kStart);
  rtt.OnReport({200000}, kStart);
  EXPECT_EQ(rtt.value(), milliseconds(110));
}

TEST(ReceiverRtt, R6323_ROB_02_WithoutNumbersItDoublesUpTo64Seconds) {
  ReceiverRtt rtt(Duration::zero());
  rtt.SetReported(true);
  rtt.OnReport({100000}, kStart);
  TimePoint now = kStart;
  rtt.OnReport({RttEstimate::kTooLong}, now);
  rtt.OnReport({RttEstimate::kNone}, now += milliseconds(100));
  EXPECT_EQ(rtt.value(), milliseconds(100));
  rtt.OnReport({RttEstimate::kNone}, now += milliseconds(1));
  EXPECT_EQ(rtt.value(), milliseconds(200));
  rtt.OnReport({RttEstimate::kNone}, now += milliseconds(150));
  EXPECT_EQ(rtt.value(), milliseconds(200));
  for (int i = 0; i < 50; ++i) rtt.OnReport({RttEstimate::kTooLong}, now += seconds(65));
  EXPECT_EQ(rtt.value(), seconds(64));
}

TEST(ReceiverRtt, R6323_OFF_01_WithoutTheFeatureReportsAreIgnored) {
  ReceiverRtt rtt(milliseconds(10));
  rtt.OnReport({500000}, kStart);
  EXPECT_EQ(rtt.value(), milliseconds(10));
  rtt.SetReported(true);
  rtt.OnReport({500000}, kStart);
  rtt.SetReported(false);
  EXPECT_EQ(rtt.value(), milliseconds(10));
}

TEST(ReceiveRateMeter, R4342_OPT_03_BytesSinceTheLastReport) {
  ReceiveRateMeter meter;
  meter.OnData(1, 1000, kStart);
  EXPECT_EQ(meter.Report(kStart, kRtt), 0);
  for (int i = 1; i <= 20; ++i) meter.OnData(1, 1000, kStart + i * milliseconds(10));
  EXPECT_DOUBLE_EQ(meter.Report(kStart + milliseconds(200), kRtt), 100000);
  EXPECT_EQ(meter.most_reported(), 100000);
  EXPECT_EQ(meter.mean_payload(), 1000);
}

TEST(ReceiveRateMeter, R5348_RCV_03_AnEarlyReportLooksBackForARoundTrip) {
  ReceiveRateMeter meter;
  meter.Report(kStart, kRtt);
  for (int i = 1; i <= 100; ++i) {
    const TimePoint now = kStart + i * milliseconds(10);
    meter.OnData(1, 1000, now);
    if (i >= 10 && (i % 10 == 0 || i % 10 == 1)) {
      EXPECT_NEAR(meter.Report(now, kRtt), 100000, 1) << i;
    }
  }
}

TEST(ReceiveRateMeter, R5348_RCV_04_AfterASilenceAPacketARoundTrip) {
  ReceiveRateMeter meter;
  meter.Report(kStart, kRtt);
  meter.OnData(1, 1000, kStart + seconds(1000));
  EXPECT_DOUBLE_EQ(meter.Report(kStart + seconds(1000), kRtt), 10000);
}

TEST(ReceiveRateMeter, Bug_E27_ManyReportsWithoutData) {
  ReceiveRateMeter meter;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(meter.Report(kStart, microseconds(1)), 0);
  meter.OnData(1, 1000, kStart);
  EXPECT_GT(meter.Report(kStart, microseconds(1)), 0);
}

}  // namespace
}  // namespace dccp::ccid3
