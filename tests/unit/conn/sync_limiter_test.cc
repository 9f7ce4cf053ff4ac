#include "stack/conn/sync_limiter.h"

#include <gtest/gtest.h>

#include <vector>

namespace dccp {
namespace {

TEST(SyncLimiter, R4340_SEQ_16_AtMostEightInAnySecond) {
  SyncLimiter limiter;
  std::vector<TimePoint> allowed;
  for (int ms = 0; ms < 5000; ++ms) {
    const TimePoint now{std::chrono::milliseconds(ms)};
    if (limiter.Allow(now)) allowed.push_back(now);
  }
  EXPECT_EQ(allowed.size(), 40u);
  EXPECT_EQ(limiter.suppressed(), 4960u);
  for (std::size_t i = SyncLimiter::kPerSecond; i < allowed.size(); ++i) {
    EXPECT_GE(allowed[i] - allowed[i - SyncLimiter::kPerSecond], std::chrono::seconds(1));
  }
}

TEST(SyncLimiter, RareInvalidPacketsAreAllAnswered) {
  SyncLimiter limiter;
  for (int s = 0; s < 100; ++s) {
    EXPECT_TRUE(limiter.Allow(TimePoint(std::chrono::milliseconds(125) * s)));
  }
}

TEST(SyncLimiter, R8899_RATE_01_SpareOnesLeaveHalfToThoseThatCannotWait) {
  SyncLimiter limiter;
  const TimePoint now{std::chrono::seconds(1)};
  int spare = 0;
  while (limiter.AllowSpare(now)) ++spare;
  EXPECT_EQ(spare, 4);
  EXPECT_EQ(limiter.suppressed(), 0u);
  int others = 0;
  while (limiter.Allow(now)) ++others;
  EXPECT_EQ(others, 4);
  EXPECT_FALSE(limiter.AllowSpare(now + std::chrono::milliseconds(999)));
  EXPECT_TRUE(limiter.AllowSpare(now + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace dccp
