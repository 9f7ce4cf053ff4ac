#include "stack/conn/closer.h"

#include <gtest/gtest.h>

#include <vector>

namespace dccp {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Action = Closer::Action;

constexpr TimePoint kStart = TimePoint() + seconds(1000);

TEST(Closer, R4340_CLS_01_PKT_05_WhoSendsWhat) {
  EXPECT_EQ(Closer(Role::kClient, false).first_packet(), PacketType::kClose);
  EXPECT_EQ(Closer(Role::kClient, true).first_packet(), PacketType::kClose);
  EXPECT_EQ(Closer(Role::kServer, false).first_packet(), PacketType::kCloseReq);
  EXPECT_EQ(Closer(Role::kServer, true).first_packet(), PacketType::kClose);
}

TEST(Closer, R4340_CLS_03_FirstRepeatAfterTwoRoundTripsThenBacksOff) {
  Closer closer(Role::kClient, false);
  TimerSet timers;
  closer.Start(PacketType::kClose, kStart, milliseconds(300), seconds(480), timers);
  EXPECT_EQ(closer.type(), PacketType::kClose);
  TimePoint last = kStart;
  std::vector<std::int64_t> gaps_ms;
  while (true) {
    const TimePoint at = timers.Get(Timer::kClose);
    timers.Cancel(Timer::kClose);
    gaps_ms.push_back((at - last) / milliseconds(1));
    last = at;
    if (closer.OnTimer(at, timers) == Action::kGiveUp) break;
  }
  ASSERT_GE(gaps_ms.size(), 8u);
  EXPECT_EQ(gaps_ms[0], 600);
  EXPECT_EQ(gaps_ms[1], 1200);
  EXPECT_EQ(gaps_ms[6], 38400);
  EXPECT_EQ(gaps_ms[7], 64000);
  EXPECT_EQ(last, kStart + seconds(480));
}

TEST(Closer, R4340_CLS_03_ShortRoundTripsDoNotMakeABurst) {
  Closer closer(Role::kServer, false);
  TimerSet timers;
  closer.Start(PacketType::kCloseReq, kStart, std::chrono::microseconds(50), seconds(480), timers);
  EXPECT_EQ(timers.Get(Timer::kClose), kStart + milliseconds(20));
}

TEST(Closer, Bug_C9_DrainingIsBounded) {
  Closer closer(Role::kClient, false);
  TimerSet timers;
  EXPECT_FALSE(closer.requested());
  closer.Request(kStart, seconds(5), timers);
  EXPECT_TRUE(closer.requested());
  EXPECT_FALSE(closer.DrainOver(kStart + seconds(4)));
  EXPECT_TRUE(closer.DrainOver(kStart + seconds(5)));
  EXPECT_EQ(timers.Get(Timer::kClose), kStart + seconds(5));
  // A second wish can only shorten the wait.
  closer.Request(kStart + seconds(1), hours(1), timers);
  EXPECT_TRUE(closer.DrainOver(kStart + seconds(5)));
  closer.Request(kStart + seconds(1), Duration::zero(), timers);
  EXPECT_TRUE(closer.DrainOver(kStart + seconds(1)));
}

TEST(Closer, WaitingForEverDoesNotOverflow) {
  Closer closer(Role::kClient, false);
  TimerSet timers;
  closer.Request(kStart, Duration::max(), timers);
  EXPECT_FALSE(closer.DrainOver(kStart + hours(1'000'000)));
}

}  // namespace
}  // namespace dccp
