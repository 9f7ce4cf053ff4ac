#include "stack/base/rate_limit.h"

#include "gtest/gtest.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

int TakenDuring(TokenBucket& bucket, TimePoint from, Duration length, int attempts) {
  int taken = 0;
  for (int i = 0; i < attempts; ++i) taken += bucket.Take(from + length * i / attempts) ? 1 : 0;
  return taken;
}

TEST(TokenBucket, R4340_SEQ_16_AThousandTriesInASecondPassEight) {
  TokenBucket bucket(8, seconds(1), 1);
  EXPECT_EQ(TakenDuring(bucket, TimePoint(seconds(100)), seconds(1), 1000), 8);
}

TEST(TokenBucket, BurstPassesAtOnceThenTheRateHolds) {
  TokenBucket bucket(8, seconds(1), 8);
  const TimePoint start(seconds(5));
  int taken = 0;
  while (bucket.Take(start)) ++taken;
  EXPECT_EQ(taken, 8);
  EXPECT_FALSE(bucket.Take(start + milliseconds(124)));
  EXPECT_TRUE(bucket.Take(start + milliseconds(125)));
  EXPECT_FALSE(bucket.Take(start + milliseconds(125)));
}

TEST(TokenBucket, SilenceRestoresTheBurstButNoMore) {
  TokenBucket bucket(10, seconds(1), 4);
  const TimePoint start(seconds(1));
  while (bucket.Take(start)) {
  }
  int taken = 0;
  while (bucket.Take(start + seconds(1000))) ++taken;
  EXPECT_EQ(taken, 4);
}

TEST(TokenBucket, LongRunRateIsExact) {
  TokenBucket bucket(8, seconds(1), 8);
  EXPECT_EQ(TakenDuring(bucket, TimePoint(), seconds(100), 100000), 8 * 100 + 7);
}

}  // namespace
}  // namespace dccp
