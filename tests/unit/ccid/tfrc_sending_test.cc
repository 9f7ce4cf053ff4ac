// Scheduling, data-limited intervals, packet size and round trip of TFRC.
#include <gtest/gtest.h>

#include <cmath>

#include "ccid/tfrc/data_limited.h"
#include "ccid/tfrc/round_trip.h"
#include "ccid/tfrc/segment_size.h"
#include "ccid/tfrc/send_schedule.h"
#include "ccid/tfrc/units.h"

namespace dccp::tfrc {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{hours(1)};

// A backlogged sender that wakes up when told, or `late` after it.
struct Backlog {
  SendSchedule schedule{SendSchedule::Config()};
  TimePoint now = kStart;
  std::uint64_t sent = 0;
  std::uint32_t largest_burst = 0;

  void Run(Duration duration, double t_ipi, Duration rtt, Duration late = Duration::zero()) {
    const TimePoint end = now + duration;
    while (now < end) {
      std::uint32_t burst = 0;
      for (;;) {
        const SendPermit permit = schedule.Ask(now, t_ipi, rtt);
        if (permit.kind != SendPermit::Kind::kNow) {
          largest_burst = std::max(largest_burst, burst);
          ASSERT_GT(permit.at, now);
          now = std::min(permit.at + late, end);
          break;
        }
        schedule.OnSent(permit.packets, now, t_ipi, rtt);
        burst += permit.packets;
        sent += permit.packets;
      }
    }
  }
};

TEST(SendSchedule, R5348_SCH_01_TheRateIsExact) {
  for (double t_ipi : {64.0, 1.0, 0.0123, 1e-4, 1.234567e-6, 3.3e-9}) {
    Backlog sender;
    const double span = 2000 * t_ipi;
    sender.Run(FromSeconds(span), t_ipi, milliseconds(100));
    EXPECT_NEAR(static_cast<double>(sender.sent), 2000, 70) << t_ipi;
    const std::uint64_t before = sender.sent;
    sender.Run(FromSeconds(10 * span), t_ipi, milliseconds(100));
    EXPECT_NEAR(static_cast<double>(sender.sent - before), 20000, 65) << t_ipi;
  }
}

TEST(SendSchedule, R5348_SCH_01_Bug_E21_Bug_G3_ALateTimerDoesNotLowerTheRate) {
  Backlog sender;
  sender.Run(seconds(100), 0.001, milliseconds(100), microseconds(3700));
  EXPECT_NEAR(static_cast<double>(sender.sent), 100000, 100);
  EXPECT_LE(sender.largest_burst, 6u);
}

TEST(SendSchedule, R5348_SCH_02_Bug_E20_IdlenessEarnsNoMoreThanARoundTrip) {
  for (Duration rtt :
       {Duration(milliseconds(2)), Duration(milliseconds(50)), Duration(seconds(3))}) {
    SendSchedule::Config config;
    config.max_credit = hours(1);
    Backlog sender;
    sender.schedule = SendSchedule(config);
    sender.Run(seconds(1), 0.001, rtt);
    sender.now += hours(100);
    sender.largest_burst = 0;
    sender.Run(nanoseconds(1), 0.001, rtt);
    EXPECT_LE(sender.largest_burst, Seconds(rtt) / 0.001);
    EXPECT_GE(sender.largest_burst, 1u);
  }
}

TEST(SendSchedule, Bug_E20_TheLimitMayBeStricter) {
  Backlog sender;
  sender.Run(seconds(1), 0.001, seconds(1));
  sender.now += hours(100);
  sender.largest_burst = 0;
  sender.Run(nanoseconds(1), 0.001, seconds(1));
  EXPECT_LE(sender.largest_burst, 10u);
}

TEST(SendSchedule, R5348_SCH_03_SendsEarlyByHalfTheGranularity) {
  SendSchedule schedule{SendSchedule::Config()};
  schedule.OnSent(1, kStart, 0.02, milliseconds(100));
  const SendPermit permit = schedule.Ask(kStart, 0.02, milliseconds(100));
  ASSERT_EQ(permit.kind, SendPermit::Kind::kAt);
  EXPECT_EQ(permit.at, kStart + microseconds(19500));
  EXPECT_EQ(schedule.Ask(permit.at, 0.02, milliseconds(100)).kind, SendPermit::Kind::kNow);
  // By a quarter of a millisecond where the interval is half of one.
  EXPECT_EQ(schedule.Ask(kStart, 0.0005, milliseconds(100)).at, kStart + microseconds(750));
}

TEST(SendSchedule, ANewRateMovesThePacketThatWaits) {
  SendSchedule schedule{SendSchedule::Config()};
  schedule.OnSent(1, kStart, 64, milliseconds(100));
  EXPECT_GT(schedule.Ask(kStart, 64, milliseconds(100)).at, kStart + seconds(63));
  EXPECT_LE(schedule.Ask(kStart, 0.1, milliseconds(100)).at, kStart + milliseconds(100));
}

TEST(SendSchedule, FastFlowsWakeUpOnceForAGroup) {
  SendSchedule schedule{SendSchedule::Config()};
  const double t_ipi = 12e-6;  // 1 Gbit/s
  schedule.OnSent(1, kStart, t_ipi, milliseconds(20));
  const SendPermit wait = schedule.Ask(kStart, t_ipi, milliseconds(20));
  ASSERT_EQ(wait.kind, SendPermit::Kind::kAt);
  EXPECT_GE(wait.at - kStart, microseconds(700));
  EXPECT_GE(schedule.Ask(wait.at, t_ipi, milliseconds(20)).packets, 60u);
}

// A packet of one byte after a large one, a round trip of nothing: an interval of zero.
TEST(SendSchedule, Bug_E28_NoIntervalIsZero) {
  SendSchedule schedule{SendSchedule::Config()};
  for (double t_ipi : {0.0, 1e-30, std::nan("")}) {
    const SendPermit permit = schedule.Ask(kStart, t_ipi, Duration::zero());
    if (permit.kind == SendPermit::Kind::kNow) {
      EXPECT_LE(permit.packets, SendSchedule::kMaxGroup);
    }
    schedule.OnSent(1, kStart, t_ipi, Duration::zero());
  }
  EXPECT_EQ(schedule.Ask(kStart, 1, Duration::zero()).kind, SendPermit::Kind::kAt);
}

TEST(DataLimited, R5348_FB_09_ABackloggedSenderNeverIs) {
  DataLimited limited;
  constexpr Duration kRtt = milliseconds(100);
  for (int ms = 0; ms < 5000; ++ms) {
    const TimePoint now = kStart + milliseconds(ms);
    limited.OnUsedUp(now);
    if (ms >= 100 && ms % 100 == 0) {
      EXPECT_FALSE(limited.OnFeedback(now - kRtt, kRtt)) << ms;
    }
  }
}

TEST(DataLimited, R5348_FB_09_ASenderThatNeverUsesItsRateUpIs) {
  DataLimited limited;
  for (int i = 1; i < 10; ++i) {
    const TimePoint now = kStart + i * milliseconds(500);
    EXPECT_TRUE(limited.OnFeedback(now - milliseconds(100), milliseconds(100)));
  }
}

TEST(DataLimited, R5348_FB_09_OneMomentOfABusyIntervalIsEnough) {
  DataLimited limited;
  constexpr Duration kRtt = milliseconds(100);
  EXPECT_TRUE(limited.OnFeedback(kStart, kRtt));
  limited.OnUsedUp(kStart + milliseconds(50));
  EXPECT_FALSE(limited.OnFeedback(kStart + kRtt, kRtt));
  EXPECT_TRUE(limited.OnFeedback(kStart + 2 * kRtt, kRtt));
}

TEST(SegmentSize, R5348_SZ_01_R4342_SZ_01_TheMeanOfFourLossIntervals) {
  SegmentSize size;
  size.Expect(700);
  EXPECT_EQ(size.mean(), 700);
  for (double expected : {100.0, 100.0, 100.0, 100.0}) {
    size.OnSent(10, 1000);
    size.EndPeriod();
    EXPECT_EQ(size.mean(), expected);
  }
  size.OnSent(50, 50000);
  EXPECT_GT(size.mean(), 500);
  EXPECT_LT(size.mean(), 1000);
  for (int i = 0; i < 4; ++i) {
    size.EndPeriod();
    size.OnSent(10, 10000);
  }
  EXPECT_EQ(size.mean(), 1000);
}

TEST(SegmentSize, Bug_E9_NeverBelowAByte) {
  SegmentSize size;
  size.Expect(0);
  EXPECT_EQ(size.mean(), 1);
  size.OnSent(5, 0);
  EXPECT_EQ(size.mean(), 1);
  size.EndPeriod();
  size.EndPeriod();
  EXPECT_EQ(size.mean(), 1);
}

TEST(RoundTrip, R5348_SND_04_SmoothedByATenth) {
  RoundTrip rtt;
  EXPECT_FALSE(rtt.has_sample());
  rtt.OnSample(milliseconds(100));
  EXPECT_DOUBLE_EQ(rtt.seconds(), 0.1);
  rtt.OnSample(milliseconds(200));
  EXPECT_DOUBLE_EQ(rtt.seconds(), 0.11);
}

TEST(RoundTrip, R5348_OSC_01_OSC_02_Bug_E31_ARisingRoundTripSlowsDown) {
  RoundTrip rtt;
  rtt.OnSample(milliseconds(100));
  EXPECT_DOUBLE_EQ(rtt.damping(), 1);
  rtt.OnSample(milliseconds(200));
  // 0.9 * sqrt(0.1) + 0.1 * sqrt(0.2), over sqrt(0.2).
  EXPECT_NEAR(rtt.damping(), 0.7364, 1e-4);
  for (int i = 0; i < 200; ++i) rtt.OnSample(milliseconds(200));
  EXPECT_NEAR(rtt.damping(), 1, 1e-6);
}

TEST(RoundTrip, R5348_OSC_01_AShortRoundTripDoesNotRaiseTheRateByMuch) {
  RoundTrip rtt;
  for (int i = 0; i < 50; ++i) rtt.OnSample(milliseconds(100));
  rtt.OnSample(microseconds(20));
  EXPECT_DOUBLE_EQ(rtt.damping(), 1.25);
}

TEST(RoundTrip, Bug_E25_NeverZeroOrNegative) {
  RoundTrip rtt;
  rtt.OnSample(Duration::zero());
  EXPECT_GE(rtt.smoothed(), Duration(999));
  rtt.OnSample(-seconds(1));
  EXPECT_GT(rtt.seconds(), 0);
}

}  // namespace
}  // namespace dccp::tfrc
