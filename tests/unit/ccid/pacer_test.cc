#include "ccid/common/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dccp::test {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart = TimePoint(1000s);

struct Outcome {
  std::int64_t packets = 0;
  std::uint32_t largest = 0;
  std::int64_t wakeups = 0;
};

// Always more to send, for `duration`; wakes when told, `late` after it.
Outcome Pace(Duration interval, Duration duration, Duration late = Duration::zero()) {
  Pacer pacer;
  Outcome outcome;
  TimePoint now = kStart;
  while (now < kStart + duration) {
    const Pacer::Release release = pacer.Ask(now, interval);
    if (release.packets == 0) {
      EXPECT_GT(release.at, now);
      now = release.at + late;
      ++outcome.wakeups;
      continue;
    }
    pacer.OnSent(release.packets, now, interval);
    outcome.packets += release.packets;
    outcome.largest = std::max(outcome.largest, release.packets);
  }
  return outcome;
}

TEST(Pacer, SlowFlowsSendOnePacketAtATime) {
  const Outcome outcome = Pace(10ms, 1s);
  EXPECT_EQ(outcome.packets, 100);
  EXPECT_EQ(outcome.largest, 1u);
}

TEST(Pacer, FastFlowsSendQuantaAtTheRightRate) {
  const Outcome outcome = Pace(50us, 1s);  // 20 packets a millisecond
  EXPECT_NEAR(static_cast<double>(outcome.packets), 20000, 40);
  EXPECT_EQ(outcome.largest, 20u);
  EXPECT_LE(outcome.wakeups, 1001);
}

TEST(Pacer, QuantaAreBounded) {
  const Outcome outcome = Pace(1us, 100ms);
  EXPECT_NEAR(static_cast<double>(outcome.packets), 100000, 100);
  EXPECT_EQ(outcome.largest, 64u);
}

TEST(Pacer, LateWakeupsOfLessThanAQuantumCostNoRate) {
  const Outcome outcome = Pace(50us, 1s, 40us);
  EXPECT_NEAR(static_cast<double>(outcome.packets), 20000, 1000);
}

TEST(Pacer, SilenceEarnsOneQuantumOnly) {
  Pacer pacer;
  pacer.OnSent(1, kStart, 100us);
  EXPECT_EQ(pacer.Ask(kStart + 1h, 100us).packets, 10u);
}

TEST(Pacer, AnUnusedPartOfAQuantumStaysReleased) {
  Pacer pacer;
  ASSERT_EQ(pacer.Ask(kStart, 100us).packets, 10u);
  pacer.OnSent(3, kStart, 100us);
  EXPECT_EQ(pacer.Ask(kStart, 100us).packets, 7u);
  pacer.OnSent(7, kStart, 100us);
  const Pacer::Release release = pacer.Ask(kStart, 100us);
  EXPECT_EQ(release.packets, 0u);
  EXPECT_EQ(release.at, kStart + 1ms);
}

TEST(Pacer, NoIntervalMeansNoPacing) {
  Pacer pacer;
  pacer.OnSent(1000, kStart, Duration::zero());
  EXPECT_GT(pacer.Ask(kStart, Duration::zero()).packets, 1000000u);
}

}  // namespace
}  // namespace dccp::test
