#include "stack/conn/misbehaviour_monitor.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr NonceVerdict kUnknown = NonceVerdict::kUnknown;
constexpr NonceVerdict kMatch = NonceVerdict::kMatch;
constexpr NonceVerdict kMismatch = NonceVerdict::kMismatch;
constexpr Duration kRtt = milliseconds(100);

// Ten packets a round trip.
class MisbehaviourMonitorTest : public ::testing::Test {
 protected:
  NonceVerdict Round(NonceVerdict verdict, std::uint32_t right_ones = 0) {
    sent_ += 10;
    return monitor_.OnNonce(verdict, right_ones, Seq64(sent_ - 5), Seq64(sent_));
  }
  NonceVerdict SameRound(NonceVerdict verdict) {
    return monitor_.OnNonce(verdict, 0, Seq64(sent_ - 4), Seq64(sent_));
  }
  void Prove() {
    for (std::uint32_t i = 0; i < MisbehaviourMonitor::kProof; ++i) Round(kMatch, 1);
  }
  // The connection's part: withholds when due, and the peer acknowledges it or not.
  void Verify(bool lie) {
    now_ += kRtt;
    if (!monitor_.VerifyDue(now_, kRtt)) return;
    monitor_.OnWithheld(Seq64(++sent_), now_);
    ++withheld_;
    if (lie) monitor_.OnLie();
  }

  MisbehaviourMonitor monitor_;
  std::int64_t sent_ = 1000;
  TimePoint now_ = TimePoint(seconds(10));
  int withheld_ = 0;
};

TEST_F(MisbehaviourMonitorTest, R4340_ECN_05_AnHonestPeerIsNeverDisturbed) {
  Prove();
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(Round(kMatch, 1), kMatch);
    Verify(false);
  }
  EXPECT_EQ(Round(kUnknown), kUnknown);
  EXPECT_EQ(withheld_, 0);
  EXPECT_FALSE(monitor_.without_ect() || monitor_.penalty() || monitor_.suspicious());
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_AMismatchIsFirstTakenAsAMark) {
  Prove();
  EXPECT_EQ(Round(kMismatch), kMismatch);
  EXPECT_TRUE(monitor_.suspicious());
  EXPECT_FALSE(monitor_.without_ect());
  EXPECT_FALSE(monitor_.penalty());
  EXPECT_EQ(monitor_.mismatches(), 1u);
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_MismatchesAloneNeverEndAConnection) {
  Prove();
  for (int i = 0; i < 10'000; ++i) {
    Round(kMismatch);
    Verify(false);
  }
  EXPECT_TRUE(monitor_.without_ect());
  EXPECT_FALSE(monitor_.penalty());
  EXPECT_EQ(withheld_, 2'500);
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_RoundTripsCountNotAcknowledgements) {
  Prove();
  Round(kMismatch);
  for (int i = 0; i < 1'000; ++i) SameRound(kMismatch);
  EXPECT_FALSE(monitor_.without_ect());
  for (std::uint32_t i = 1; i < MisbehaviourMonitor::kMismatchRounds; ++i) {
    EXPECT_FALSE(monitor_.without_ect());
    Round(kMismatch);
  }
  EXPECT_TRUE(monitor_.without_ect());
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_APathThatClearsNoncesCostsTheMarkingOnly) {
  for (std::uint32_t i = 0; i < MisbehaviourMonitor::kUnprovenRounds; ++i) {
    EXPECT_FALSE(monitor_.without_ect());
    EXPECT_EQ(Round(kMatch, 0), kUnknown);
    EXPECT_EQ(Round(kMismatch), kUnknown);
  }
  EXPECT_TRUE(monitor_.without_ect());
  for (int i = 0; i < 1'000; ++i) Verify(false);
  EXPECT_FALSE(monitor_.penalty());
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_AnotherPathMayClearNoncesToo) {
  Prove();
  EXPECT_EQ(Round(kMismatch), kMismatch);
  monitor_.OnPathChange();
  EXPECT_EQ(Round(kMismatch), kUnknown);
  Prove();
  EXPECT_EQ(Round(kMismatch), kMismatch);
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_01_VerifiedLiesOverSeveralRoundTripsAreTheLastResort) {
  Round(kMismatch);
  const TimePoint begin = now_;
  for (int i = 0; i < 100 && !monitor_.penalty(); ++i) {
    ASSERT_LT(monitor_.lies(), MisbehaviourMonitor::kLies);
    Verify(true);
  }
  EXPECT_TRUE(monitor_.penalty());
  EXPECT_EQ(monitor_.lies(), MisbehaviourMonitor::kLies);
  EXPECT_GE(now_ - begin, 2 * MisbehaviourMonitor::kVerifyRtts * kRtt);
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_02_ElapsedTimesOfTheImpossibleKindEndItOnlyInARow) {
  const auto round = [this](Duration elapsed) {
    sent_ += 10;
    monitor_.OnElapsed(elapsed, kRtt, Seq64(sent_ - 5), Seq64(sent_));
  };
  const std::uint32_t most = MisbehaviourMonitor::kElapsedRounds;
  for (std::uint32_t i = 0; i < most - 1; ++i) round(seconds(5));
  round(milliseconds(50));
  for (std::uint32_t i = 0; i < most - 1; ++i) round(seconds(5));
  EXPECT_FALSE(monitor_.penalty());
  EXPECT_EQ(monitor_.elapsed_too_large(), 2 * most - 2);
  // In the same round trip.
  for (int i = 0; i < 100; ++i) monitor_.OnElapsed(seconds(5), kRtt, Seq64(sent_), Seq64(sent_));
  EXPECT_FALSE(monitor_.penalty());
  round(seconds(5));
  EXPECT_TRUE(monitor_.penalty());
}

TEST_F(MisbehaviourMonitorTest, R4340_AGG_02_ACoarseClockIsNoFault) {
  for (int i = 0; i < 1'000; ++i) {
    sent_ += 10;
    monitor_.OnElapsed(milliseconds(500), kRtt, Seq64(sent_ - 5), Seq64(sent_));
  }
  EXPECT_EQ(monitor_.elapsed_too_large(), 1'000u);
  EXPECT_FALSE(monitor_.penalty());
}

}  // namespace
}  // namespace dccp
