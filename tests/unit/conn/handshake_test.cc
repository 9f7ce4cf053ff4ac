#include "stack/conn/handshake.h"

#include <gtest/gtest.h>

#include <vector>

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Action = Handshake::Action;

constexpr TimePoint kStart = TimePoint() + seconds(1000);

TEST(Handshake, R4340_CON_02_RequestsBackOffFromOneSecondToSixtyFour) {
  Handshake handshake;
  TimerSet timers;
  handshake.StartRequest(kStart, minutes(10), timers);
  TimePoint last = kStart;
  std::vector<std::int64_t> gaps;
  for (int i = 0; i < 9; ++i) {
    const TimePoint at = timers.Get(Timer::kRequest);
    gaps.push_back((at - last) / seconds(1));
    last = at;
    EXPECT_EQ(timers.PopExpired(at), Timer::kRequest);
    EXPECT_EQ(handshake.OnRequestTimer(at, timers), Action::kRepeat);
  }
  EXPECT_EQ(gaps, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 64, 64}));
}

TEST(Handshake, R4340_CON_04_GivesUpWhenTheTimeIsOver) {
  Handshake handshake;
  TimerSet timers;
  handshake.StartRequest(kStart, minutes(3), timers);
  int repeats = 0;
  while (true) {
    const TimePoint at = timers.Get(Timer::kRequest);
    ASSERT_NE(at, kNever);
    timers.PopExpired(at);
    if (handshake.OnRequestTimer(at, timers) == Action::kGiveUp) {
      EXPECT_EQ(at, kStart + minutes(3));
      break;
    }
    ++repeats;
  }
  EXPECT_EQ(repeats, 7);  // after 1, 3, 7, 15, 31, 63 and 127 s
}

TEST(Handshake, R4340_CON_12_PartOpenTimerRestartsWithEachPacketAndBacksOff) {
  Handshake handshake;
  TimerSet timers;
  handshake.StartPartOpen(kStart, 4 * kMsl, timers);
  EXPECT_EQ(timers.Get(Timer::kPartOpen), kStart + milliseconds(200));
  handshake.OnPartOpenSent(kStart + milliseconds(150), timers);
  EXPECT_EQ(timers.Get(Timer::kPartOpen), kStart + milliseconds(350));
  TimePoint at = timers.Get(Timer::kPartOpen);
  EXPECT_EQ(handshake.OnPartOpenTimer(at, timers), Action::kRepeat);
  EXPECT_EQ(timers.Get(Timer::kPartOpen), at + milliseconds(400));
  at = timers.Get(Timer::kPartOpen);
  EXPECT_EQ(handshake.OnPartOpenTimer(at, timers), Action::kRepeat);
  EXPECT_EQ(timers.Get(Timer::kPartOpen), at + milliseconds(800));
}

TEST(Handshake, R4340_CON_12_PartOpenEndsAfterFourMsl) {
  Handshake handshake;
  TimerSet timers;
  handshake.StartPartOpen(kStart, 4 * kMsl, timers);
  while (true) {
    const TimePoint at = timers.Get(Timer::kPartOpen);
    ASSERT_LE(at, kStart + 4 * kMsl);
    if (handshake.OnPartOpenTimer(at, timers) == Action::kGiveUp) {
      EXPECT_EQ(at, kStart + 4 * kMsl);
      return;
    }
  }
}

TEST(Handshake, R4340_CON_10_RespondWaitsFourMsl) {
  Handshake handshake;
  TimerSet timers;
  handshake.StartRespond(kStart, kMsl, timers);
  EXPECT_EQ(timers.Get(Timer::kRespond), kStart + minutes(8));
  handshake.Stop(timers);
  EXPECT_EQ(timers.Next(), kNever);
}

}  // namespace
}  // namespace dccp
