#include "stack/sim/red_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace dccp {
namespace {

constexpr RedConfig kConfig = {
    .min_packets = 5, .max_packets = 15, .max_probability = 0.1, .weight = 0.002};

TEST(RedQueue, NeverStrikesBelowTheMinimum) {
  RedQueue red(kConfig);
  SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(red.Strikes(4, 0, random));
  EXPECT_NEAR(red.average_packets(), 4, 0.01);
}

TEST(RedQueue, AverageFollowsSlowly) {
  RedQueue red(kConfig);
  SeededRandom random(1);
  red.Strikes(1000, 0, random);
  EXPECT_DOUBLE_EQ(red.average_packets(), 2.0);
  red.Strikes(0, 0, random);
  EXPECT_DOUBLE_EQ(red.average_packets(), 2.0 * 0.998);
}

// While the link idles the average decays as if empty samples had arrived at its rate.
TEST(RedQueue, IdleTimeLowersTheAverage) {
  RedQueue red(kConfig);
  SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i) red.Strikes(10, 0, random);
  const double before = red.average_packets();
  red.Strikes(0, 500, random);
  EXPECT_NEAR(red.average_packets(), before * std::pow(0.998, 501), 1e-9);
}

// Halfway between the thresholds p is 0.05: gaps are uniform on 1 to 1/p - 1, with mean 10 and a
// standard deviation of 5.5.
TEST(RedQueue, StrikesAtTheConfiguredRateInBetween) {
  RedQueue red(kConfig);
  SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i) red.Strikes(10, 0, random);
  int strikes = 0;
  int longest = 0;
  int gap = 0;
  for (int i = 0; i < 100'000; ++i) {
    ++gap;
    if (!red.Strikes(10, 0, random)) continue;
    ++strikes;
    longest = std::max(longest, gap);
    gap = 0;
  }
  EXPECT_NEAR(strikes, 10'000, 3.2905 * 5.5 * std::sqrt(100'000) / std::pow(10, 1.5));
  EXPECT_LE(longest, 20);
}

TEST(RedQueue, StrikesAlwaysAtTwiceTheMaximum) {
  RedQueue red(kConfig);
  SeededRandom random(1);
  for (int i = 0; i < 20'000; ++i) red.Strikes(31, 0, random);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(red.Strikes(31, 0, random));
}

}  // namespace
}  // namespace dccp
