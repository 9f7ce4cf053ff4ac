#include "stack/conn/liveness.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using std::chrono::seconds;
using Action = Liveness::Action;

constexpr TimePoint kStart = TimePoint() + seconds(1000);

TEST(Liveness, OffMeansWaitForEver) {
  Liveness live{Duration::zero()};
  live.OnStart(kStart);
  EXPECT_EQ(live.Deadline(), kNever);
  EXPECT_EQ(live.OnTimer(kStart + std::chrono::hours(10000)), Action::kNothing);
}

TEST(Liveness, ProbesASilentPeerThenGivesItUp) {
  Liveness live{seconds(32)};
  live.OnStart(kStart);
  int probes = 0;
  while (true) {
    const TimePoint at = live.Deadline();
    const Action action = live.OnTimer(at);
    if (action == Action::kGiveUp) {
      EXPECT_EQ(at, kStart + seconds(32));
      break;
    }
    ASSERT_EQ(action, Action::kProbe);
    EXPECT_EQ(at, kStart + seconds(16) + probes * seconds(4));
    ++probes;
  }
  EXPECT_EQ(probes, 4);
}

// The program stood still, and what the peer said meanwhile is not read yet.
TEST(Liveness, ATimerThatComesLateProbesBeforeItGivesUp) {
  Liveness live{seconds(32)};
  live.OnStart(kStart);
  const TimePoint late = kStart + seconds(100);
  EXPECT_EQ(live.OnTimer(late), Action::kProbe);
  EXPECT_EQ(live.OnTimer(late + seconds(7)), Action::kProbe);
  EXPECT_EQ(live.OnTimer(late + seconds(8)), Action::kGiveUp);

  live.OnStart(kStart);
  EXPECT_EQ(live.OnTimer(late), Action::kProbe);
  live.OnValidPacket(late);
  EXPECT_EQ(live.Deadline(), late + seconds(16));
}

TEST(Liveness, AValidPacketStartsAfresh) {
  Liveness live{seconds(32)};
  live.OnStart(kStart);
  EXPECT_EQ(live.OnTimer(kStart + seconds(16)), Action::kProbe);
  live.OnValidPacket(kStart + seconds(17));
  EXPECT_EQ(live.Deadline(), kStart + seconds(33));
  EXPECT_EQ(live.OnTimer(kStart + seconds(20)), Action::kNothing);
}

TEST(Liveness, R4340_SEQ_10_ActiveWithinThreeRoundTrips) {
  Liveness live{Duration::zero()};
  live.OnValidPacket(kStart);
  EXPECT_TRUE(live.ActiveWithin(seconds(3), kStart + seconds(2)));
  EXPECT_FALSE(live.ActiveWithin(seconds(3), kStart + seconds(4)));
}

}  // namespace
}  // namespace dccp
