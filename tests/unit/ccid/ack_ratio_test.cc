// Congestion control of acknowledgements. RFC 4341 §6.1
#include "ccid/ccid2/ack_ratio.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

using ccid2::AckRatioControl;

constexpr Duration kRtt = 100ms;

// Drives an AckRatioControl window by window; the peer confirms within the round trip.
struct Rig {
  explicit Rig(std::uint32_t acks_per_window = 0, std::uint32_t initial = 2)
      : control(initial, acks_per_window) {}

  // One window of data; returns what was asked for, 0: nothing.
  std::uint32_t Window(std::uint32_t cwnd, bool congested = false) {
    now += kRtt;
    if (congested) control.OnReverseCongestion();
    control.OnWindowEnd(cwnd);
    const auto asked = control.Request(cwnd, cwnd, now, kRtt);
    if (asked) control.OnFeature(*asked);
    return asked.value_or(0);
  }
  // Windows until the ratio changes.
  int WindowsToChange(std::uint32_t cwnd) {
    const std::uint32_t before = control.current();
    for (int n = 1; n <= 1000; ++n) {
      Window(cwnd);
      if (control.current() != before) return n;
    }
    return -1;
  }

  AckRatioControl control;
  TimePoint now = kStart;
};

TEST(AckRatio, R4341_AR_03_UpperBoundIsHalfTheWindowRoundedUpOrTwo) {
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {
      {1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 3}, {6, 3}, {7, 4}, {100, 50}, {1u << 20, 65535}};
  for (const auto& [cwnd, most] : cases) EXPECT_EQ(AckRatioControl::MaxFor(cwnd), most) << cwnd;
}

TEST(AckRatio, R4341_AR_04_DoublesForAWindowWithReverseCongestion) {
  Rig rig;
  EXPECT_EQ(rig.Window(100, true), 4u);
  rig.Window(100);  // its acknowledgements were sent under the old ratio
  EXPECT_EQ(rig.Window(100, true), 8u);
}

TEST(AckRatio, R4341_AR_04_TheWindowOfTheChangeIsNotCountedAgain) {
  Rig rig;
  EXPECT_EQ(rig.Window(100, true), 4u);
  EXPECT_EQ(rig.Window(100, true), 0u);
  EXPECT_EQ(rig.control.current(), 4u);
}

TEST(AckRatio, R4341_AR_04_DecreasesByOneAfterTheCleanWindowsOfAppendixA) {
  Rig rig(0, 4);
  EXPECT_EQ(rig.WindowsToChange(20), 2);  // 20 / (16 - 4)
  EXPECT_EQ(rig.control.current(), 3u);
  // 20 / (9 - 3) = 3.3; one window is in the shadow of the change.
  EXPECT_EQ(rig.WindowsToChange(20), 1 + 4);
  EXPECT_EQ(rig.control.current(), 2u);
  EXPECT_EQ(rig.WindowsToChange(20), -1);  // two is the least
}

TEST(AckRatio, R4341_AR_04_CongestionStartsTheCountAfresh) {
  Rig rig(0, 4);
  rig.Window(100);  // 100 / 12: nine clean windows
  rig.Window(100, true);
  ASSERT_EQ(rig.control.current(), 8u);
  rig.Window(100);
  EXPECT_EQ(rig.WindowsToChange(100), 2);  // 100 / 56
}

TEST(AckRatio, R4341_AR_04_DoublingStopsAtTheBound) {
  Rig rig(0, 4);
  EXPECT_EQ(rig.Window(10, true), 5u);
  rig.Window(10);
  EXPECT_EQ(rig.Window(10, true), 0u);
}

TEST(AckRatio, R4341_AR_05_AsksAtMostOnceARoundTrip) {
  AckRatioControl control(2, 16);
  EXPECT_TRUE(control.Request(100, 100, kStart, kRtt));
  EXPECT_FALSE(control.Request(400, 400, kStart + kRtt - 1ns, kRtt));
  EXPECT_TRUE(control.Request(400, 400, kStart + kRtt, kRtt));
}

TEST(AckRatio, Bug_D1_ARatioAboveTheWindowIsCorrectedAtOnce) {
  AckRatioControl control(2, 16);
  ASSERT_EQ(control.Request(1000, 1000, kStart, kRtt), 62u);
  control.OnFeature(62);
  EXPECT_EQ(control.Request(20, 20, kStart + 1ms, kRtt), 2u);
}

TEST(AckRatio, R4341_AR_05_OneForAWindowOfOneAtOnceAndForTwoWhenItLasts) {
  Rig rig;
  for (std::uint32_t i = 1; i < AckRatioControl::kPersistentWindows; ++i) {
    EXPECT_EQ(rig.Window(2), 0u);
  }
  EXPECT_EQ(rig.Window(2), 1u);
  EXPECT_EQ(rig.Window(3), 0u);  // stays, so that it does not flap
  EXPECT_EQ(rig.Window(4), 2u);
  EXPECT_EQ(rig.Window(1), 1u);
}

TEST(AckRatio, RaisesAheadOfAckLossForLargeWindows) {
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {{16, 2},   {47, 2},    {48, 3},
                                                           {160, 10}, {1024, 64}, {1600, 64}};
  for (const auto& [cwnd, ratio] : cases) {
    Rig rig(16);
    rig.Window(cwnd);
    EXPECT_EQ(rig.control.current(), ratio) << cwnd;
    for (int i = 0; i < 100; ++i) rig.Window(cwnd);
    EXPECT_EQ(rig.control.current(), ratio) << "the decrease must stop at the floor";
  }
}

TEST(AckRatio, SmallChangesOfALargeRatioAreNotWorthAnOption) {
  Rig rig(16);
  EXPECT_EQ(rig.Window(640), 40u);
  EXPECT_EQ(rig.Window(656), 0u);
  EXPECT_EQ(rig.Window(719), 0u);
  EXPECT_EQ(rig.Window(720), 45u);
}

TEST(AckRatio, TheFloorFollowsWhatIsSentNotWhatTheWindowWouldAllow) {
  AckRatioControl control(2, 16);
  EXPECT_FALSE(control.Request(1000, 30, kStart, kRtt));
  EXPECT_EQ(control.Request(1000, 160, kStart, kRtt), 10u);
}

TEST(AckRatio, AsksAgainForWhatIsNotConfirmed) {
  AckRatioControl control(2, 16);
  EXPECT_EQ(control.Request(160, 160, kStart, kRtt), 10u);
  EXPECT_FALSE(control.Request(160, 160, kStart + 3 * kRtt, kRtt));
  EXPECT_EQ(control.Request(160, 160, kStart + 4 * kRtt, kRtt), 10u);
  control.OnFeature(10);
  EXPECT_FALSE(control.Request(160, 160, kStart + 100 * kRtt, kRtt));
}

TEST(AckRatio, R4341_CWND_15_AcksUnderWayFitThePeersSequenceWindow) {
  Rig rig(0);
  rig.Window(1000);
  EXPECT_EQ(rig.control.current(), 20u);  // 50 acknowledgements of a window of 100
  rig.control.OnPeerSequenceWindow(2000);
  rig.Window(1000);
  EXPECT_EQ(rig.control.current(), 2u);
}

TEST(AckRatio, R4341_AR_03_RatioNotUsedCountsAsTheDefault) {
  Rig rig(0, 0);
  EXPECT_EQ(rig.control.current(), 2u);
  rig.control.OnFeature(0);
  EXPECT_EQ(rig.control.current(), 2u);
  rig.control.OnFeature(1u << 30);
  EXPECT_EQ(rig.control.current(), AckRatioControl::kMax);
}

TEST(AckRatio, R4341_AR_03_R4341_AR_06_ConstraintsHoldForAnyHistory) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    Rig rig(seed % 2 == 0 ? 0 : 16);
    std::uint32_t cwnd = 4;
    for (int i = 0; i < 500; ++i) {
      switch (random() % 8) {
        case 0:
          cwnd = cwnd > 2 ? cwnd / 2 : 1;
          break;
        case 1:
          cwnd = cwnd < 100000 ? cwnd * 2 : cwnd;
          break;
        case 2:
          cwnd = random() % 10 == 0 ? 1 : cwnd;
          break;
        default:
          ++cwnd;
          break;
      }
      rig.Window(cwnd, random() % 4 == 0);
      const std::uint32_t r = rig.control.current();
      ASSERT_GE(r, cwnd >= 4 ? 2u : 1u) << "seed " << seed << " step " << i;
      ASSERT_LE(r, std::max(2u, (cwnd + 1) / 2)) << "seed " << seed << " step " << i;
      if (cwnd >= 4) {
        ASSERT_GE((cwnd + r - 1) / r, 2u) << "two acks a window";
      }
      ASSERT_TRUE(cwnd > 1 || r == 1) << "a window of one cannot wait for a second";
    }
  }
}

TEST(AckRatio, R4341_AR_02_SenderTurnsReverseLossesAndMarksIntoARequest) {
  for (const bool mark : {false, true}) {
    Ccid2Options options;
    options.acks_per_window = 0;
    Ccid2Model m(DefaultInit(), options);
    while (m.cwnd() < 40) {
      const auto s = m.Fill();
      m.now += kRtt;
      m.Ack(s);
    }
    Feedback base;
    (mark ? base.reverse_marked : base.reverse_lost) = 1;
    std::optional<std::uint64_t> asked;
    for (int window = 0; window < 3 && !asked; ++window) {
      const auto s = m.Fill();
      m.now += kRtt;
      asked = Requested(m.Ack(s, {}, base), FeatureNumber::kAckRatio);
    }
    EXPECT_EQ(asked, 4u);
  }
}

TEST(AckRatio, R4341_LNX_01_Bug_D1_SenderLowersALargeRatioBeforeASmallWindowFollowsASilence) {
  Ccid2Model m;
  m.sender.OnFeature(FeatureNumber::kAckRatio, 2, true);
  while (m.sender.Stats().ack_ratio < 20) {
    const auto s = m.Fill();
    m.now += kRtt;
    for (std::size_t i = 0; i < s.size(); i += 2) {
      const auto asked =
          Requested(m.Ack({s[i], s[std::min(i + 1, s.size() - 1)]}), FeatureNumber::kAckRatio);
      if (asked) m.sender.OnFeature(FeatureNumber::kAckRatio, *asked, true);
    }
  }
  const auto s = m.Fill();
  const TimePoint sent = m.now;
  m.now += kRtt;
  m.Ack(s);
  ASSERT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.sender.NextTimeout(), sent + m.sender.Stats().rto);
  m.now = m.sender.NextTimeout();
  const CcidRequests requests = m.Timeout();
  EXPECT_EQ(Requested(requests, FeatureNumber::kAckRatio), 2u);
  EXPECT_FALSE(requests.abandon_in_flight);
  EXPECT_EQ(m.sender.Stats().timeouts, 0u);
  EXPECT_EQ(m.sender.NextTimeout(), kNever);
}

TEST(AckRatio, R4341_LNX_01_Bug_D1_SenderAsksForOneAfterATimeout) {
  Ccid2Model m;
  m.Fill();
  m.now = m.sender.NextTimeout();
  EXPECT_EQ(Requested(m.Timeout(), FeatureNumber::kAckRatio), 1u);
}

}  // namespace
}  // namespace dccp::test
