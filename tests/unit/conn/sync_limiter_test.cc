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

}  // namespace
}  // namespace dccp
