#include "stack/conn/timer_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace dccp {
namespace {

using std::chrono::seconds;

TimePoint At(std::int64_t s) { return TimePoint(seconds(s)); }

TEST(TimerSet, StartsWithoutDeadlines) {
  TimerSet timers;
  EXPECT_EQ(timers.Next(), kNever);
  EXPECT_FALSE(timers.IsSet(Timer::kClose));
  EXPECT_EQ(timers.PopExpired(At(1'000'000)), std::nullopt);
}

TEST(TimerSet, NextIsTheEarliestWhateverHappens) {
  TimerSet timers;
  timers.Set(Timer::kClose, At(10));
  timers.Set(Timer::kPacing, At(5));
  EXPECT_EQ(timers.Next(), At(5));
  timers.Set(Timer::kPacing, At(20));
  EXPECT_EQ(timers.Next(), At(10));
  timers.Cancel(Timer::kClose);
  EXPECT_EQ(timers.Next(), At(20));
  timers.SetEarlier(Timer::kPacing, At(30));
  EXPECT_EQ(timers.Next(), At(20));
  timers.SetEarlier(Timer::kPacing, At(15));
  EXPECT_EQ(timers.Get(Timer::kPacing), At(15));
  timers.CancelAll();
  EXPECT_EQ(timers.Next(), kNever);
}

TEST(TimerSet, ExpiresInOrderOfDeadlines) {
  TimerSet timers;
  timers.Set(Timer::kClose, At(3));
  timers.Set(Timer::kRequest, At(4));
  timers.Set(Timer::kPacing, At(2));
  EXPECT_EQ(timers.PopExpired(At(1)), std::nullopt);
  EXPECT_EQ(timers.PopExpired(At(3)), Timer::kPacing);
  EXPECT_EQ(timers.PopExpired(At(3)), Timer::kClose);
  EXPECT_EQ(timers.PopExpired(At(3)), std::nullopt);
  EXPECT_FALSE(timers.IsSet(Timer::kClose));
  EXPECT_EQ(timers.Next(), At(4));
}

TEST(TimerSet, AgreesWithAPlainArray) {
  std::mt19937 random(1);
  TimerSet timers;
  std::array<TimePoint, static_cast<std::size_t>(Timer::kCount)> model;
  model.fill(kNever);
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t timer = random() % model.size();
    model[timer] = random() % 3 == 0 ? kNever : At(static_cast<std::int64_t>(random() % 50));
    timers.Set(static_cast<Timer>(timer), model[timer]);
    ASSERT_EQ(timers.Next(), *std::min_element(model.begin(), model.end()));
  }
}

TEST(Backoff, DoublesUpToTheCap) {
  Backoff backoff(seconds(1), seconds(64));
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
    EXPECT_EQ(backoff.Next(), seconds(expected));
  }
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), seconds(1));
}

TEST(Backoff, StopsAtACapThatIsNoPowerOfTwo) {
  Backoff backoff(seconds(3), seconds(10));
  for (const int expected : {3, 6, 10, 10}) EXPECT_EQ(backoff.Next(), seconds(expected));
}

}  // namespace
}  // namespace dccp
