#include "stack/wire/ten_micros.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using namespace std::chrono_literals;

TEST(TenMicros, R4340_TIM_05_RoundsDown) {
  EXPECT_EQ(TenMicros::FromDuration(0ns).ticks(), 0u);
  EXPECT_EQ(TenMicros::FromDuration(9999ns).ticks(), 0u);
  EXPECT_EQ(TenMicros::FromDuration(10us).ticks(), 1u);
  EXPECT_EQ(TenMicros::FromDuration(19999ns).ticks(), 1u);
  EXPECT_EQ(TenMicros::FromDuration(500ms).ticks(), 50000u);
}

TEST(TenMicros, R4340_TIM_04_Saturates) {
  EXPECT_EQ(TenMicros::FromDuration(-1s).ticks(), 0u);
  EXPECT_EQ(TenMicros::FromDuration(42949672940us).ticks(), 4294967294u);
  EXPECT_EQ(TenMicros::FromDuration(42949672950us).ticks(), 4294967295u);
  EXPECT_EQ(TenMicros::FromDuration(42949672960us).ticks(), 4294967295u);
  EXPECT_EQ(TenMicros::FromDuration(Duration::max()).ticks(), 4294967295u);
}

TEST(TenMicros, ConvertsBack) {
  EXPECT_EQ(TenMicros(0).ToDuration(), 0ns);
  EXPECT_EQ(TenMicros(65536).ToDuration(), 655360us);
  EXPECT_EQ(TenMicros(4294967295u).ToDuration(), 42949672950us);
}

TEST(TenMicros, R4340_TIM_01_TimestampsWrap) {
  const TimePoint before(42949672950us);
  const TimePoint after = before + 30us;
  EXPECT_EQ(TenMicros::TimestampAt(before).ticks(), 4294967295u);
  EXPECT_EQ(TenMicros::TimestampAt(after).ticks(), 2u);
  EXPECT_EQ(TenMicros::TimestampAt(after).Since(TenMicros::TimestampAt(before)).ToDuration(), 30us);
}

TEST(TenMicros, Compares) {
  EXPECT_LT(TenMicros(1), TenMicros(2));
  EXPECT_EQ(TenMicros(7), TenMicros(7));
}

}  // namespace
}  // namespace dccp
