#include "stack/io/timer_fd.h"

#include "stack/io/monotonic_clock.h"
#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

class TimerFdTest : public testing::Test {
 protected:
  void SetUp() override {
    IoError error;
    ASSERT_TRUE(timer_.Open(&error)) << error.what;
  }
  bool Readable() const {
    pollfd wait = {timer_.fd(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  TimerFd timer_;
};

TEST_F(TimerFdTest, FiresNotBeforeTheDeadline) {
  const TimePoint deadline = MonotonicClock::Now() + microseconds(300);
  timer_.Arm(deadline);
  ASSERT_TRUE(WaitFor(timer_.fd(), POLLIN));
  EXPECT_GE(MonotonicClock::Now(), deadline);
  timer_.Acknowledge();
  EXPECT_FALSE(Readable());
}

TEST_F(TimerFdTest, FiresAtOnceForADeadlineInThePast) {
  timer_.Arm(TimePoint(Duration::zero()));
  EXPECT_TRUE(WaitFor(timer_.fd(), POLLIN));
}

TEST_F(TimerFdTest, AnEarlierDeadlineReplacesALaterOne) {
  timer_.Arm(MonotonicClock::Now() + hours(1));
  EXPECT_FALSE(Readable());
  timer_.Arm(MonotonicClock::Now());
  EXPECT_TRUE(WaitFor(timer_.fd(), POLLIN));
}

TEST_F(TimerFdTest, CanBeArmedAgainAfterItFired) {
  for (int i = 0; i < 3; ++i) {
    timer_.Arm(MonotonicClock::Now() + microseconds(10));
    EXPECT_TRUE(WaitFor(timer_.fd(), POLLIN));
    timer_.Acknowledge();
  }
}

TEST_F(TimerFdTest, NeverMeansNoAlarm) {
  timer_.Arm(kNever);
  EXPECT_FALSE(Readable());
  timer_.Acknowledge();
  timer_.Arm(MonotonicClock::Now());
  EXPECT_TRUE(WaitFor(timer_.fd(), POLLIN));
}

}  // namespace
}  // namespace dccp
