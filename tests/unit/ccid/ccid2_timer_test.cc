// The transmit timeout and the round-trip time of a CCID 2 sender. RFC 4341 §5, RFC 6298
#include <gtest/gtest.h>

#include "ccid/common/rtt_estimator.h"
#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

using Seqs = std::vector<std::int64_t>;

CcidInit InitWithoutRtt() {
  CcidInit init = DefaultInit();
  init.path.rtt = Duration::zero();
  return init;
}

TEST(RttEstimator, R4341_RTO_01_FollowsRfc6298) {
  RttEstimator e({.variance_floor = 1ms, .max_rto = 60s});
  EXPECT_FALSE(e.has_sample());
  EXPECT_EQ(e.rto(), 1s);
  EXPECT_EQ(e.srtt_or_default(), kDefaultRtt);
  e.OnSample(100ms);
  EXPECT_EQ(e.srtt(), 100ms);
  EXPECT_EQ(e.rttvar(), 50ms);
  EXPECT_EQ(e.rto(), 300ms);
  e.OnSample(180ms);  // RTTVAR = 3/4 50 + 1/4 80, SRTT = 7/8 100 + 1/8 180
  EXPECT_EQ(e.rttvar(), 57500us);
  EXPECT_EQ(e.srtt(), 110ms);
  EXPECT_EQ(e.rto(), 340ms);
  e.OnSample(30ms);  // RTTVAR = 3/4 57.5 + 1/4 80, SRTT = 7/8 110 + 1/8 30
  EXPECT_EQ(e.rttvar(), 63125us);
  EXPECT_EQ(e.srtt(), 100ms);
  EXPECT_EQ(e.min_rtt(), 30ms);
}

TEST(RttEstimator, R4341_RTO_01_GranularityIsTheFloorOfTheVarianceTerm) {
  RttEstimator e({.variance_floor = 250ms});
  for (int i = 0; i < 200; ++i) e.OnSample(20ms);
  EXPECT_LT(e.rttvar(), 1ms);
  EXPECT_EQ(e.rto(), e.srtt() + 250ms);
}

TEST(RttEstimator, R4341_RTO_03_BackOffDoublesToTheCapAndASampleEndsIt) {
  RttEstimator e({.variance_floor = 1ms, .max_rto = 64s});
  e.OnSample(1s);  // RTO 3 s
  const Duration expected[] = {6s, 12s, 24s, 48s, 64s, 64s};
  for (Duration d : expected) {
    e.BackOff();
    EXPECT_EQ(e.rto(), d);
  }
  for (int i = 0; i < 1000; ++i) e.BackOff();
  EXPECT_EQ(e.rto(), 64s);
  e.OnSample(1s);
  EXPECT_LT(e.rto(), 4s);
}

TEST(RttEstimator, SurvivesSamplesOfNothingAndOfHours) {
  RttEstimator e({.variance_floor = 1ms, .max_rto = 64s});
  e.OnSample(-5s);
  EXPECT_GT(e.srtt(), Duration::zero());
  e.OnSample(10000h);
  EXPECT_EQ(e.rto(), 64s);
  e.Reset();
  EXPECT_FALSE(e.has_sample());
  EXPECT_EQ(e.rto(), 1s);
}

TEST(Ccid2Timer, R4341_RTO_05_RunsWhileDataIsOutstanding) {
  Ccid2Model m;
  EXPECT_EQ(m.sender.NextTimeout(), kNever);
  m.Send(false);
  EXPECT_EQ(m.sender.NextTimeout(), kNever);
  const std::int64_t a = m.Send();
  const TimePoint first = m.sender.NextTimeout();
  EXPECT_EQ(first, m.now + m.sender.Stats().rto);
  m.now += 10ms;
  const std::int64_t b = m.Send();
  EXPECT_EQ(m.sender.NextTimeout(), first);  // sending does not postpone it
  m.now += 90ms;
  m.Ack({a});
  EXPECT_EQ(m.sender.NextTimeout(), m.now + m.sender.Stats().rto);
  m.Ack({b});
  EXPECT_EQ(m.sender.NextTimeout(), kNever);
}

TEST(Ccid2Timer, R4341_RTO_05_DuplicateAcksDoNotPostponeIt) {
  Ccid2Model m;
  const Seqs s = m.SendMany(4);
  m.now += 50ms;
  m.Ack({s[0]});
  const TimePoint timeout = m.sender.NextTimeout();
  m.now += 50ms;
  m.Ack({s[0]});
  EXPECT_EQ(m.sender.NextTimeout(), timeout);
}

TEST(Ccid2Timer, R4341_RTO_05_EarlyCallDoesNothing) {
  Ccid2Model m;
  m.Fill();
  m.now = m.sender.NextTimeout() - 1ns;
  EXPECT_FALSE(m.Timeout().abandon_in_flight);
  EXPECT_EQ(m.pipe(), 4u);
}

TEST(Ccid2Timer, R4341_RTO_04_EmptiesThePipeAndRestartsFromOne) {
  Ccid2Model m;
  for (int i = 0; i < 4; ++i) m.Ack(m.Fill());
  ASSERT_EQ(m.cwnd(), 8u);
  const Seqs s = m.Fill();
  m.now = m.sender.NextTimeout();
  EXPECT_TRUE(m.Timeout().abandon_in_flight);
  EXPECT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.cwnd(), 1u);
  EXPECT_EQ(m.ssthresh(), 4u);
  EXPECT_EQ(m.sender.NextTimeout(), kNever);
  EXPECT_EQ(m.sender.MaySend(1000, m.now).packets, 1u);
  // Acknowledgements of what was given up leave no pipe that they no longer are in.
  m.Send();
  m.Ack(s);
  EXPECT_EQ(m.pipe(), 1u);
  EXPECT_EQ(m.cwnd(), 1u);
}

TEST(Ccid2Timer, R4341_RTO_04_ThresholdIsAtLeastTwo) {
  Ccid2Model m;
  for (int i = 0; i < 3; ++i) {
    m.Fill();
    m.now = m.sender.NextTimeout();
    m.Timeout();
  }
  EXPECT_EQ(m.cwnd(), 1u);
  EXPECT_EQ(m.ssthresh(), 2u);
  EXPECT_EQ(m.sender.Stats().timeouts, 3u);
}

TEST(Ccid2Timer, R4341_RTO_04_LossesBeforeTheTimeoutAreNoSecondEvent) {
  Ccid2Model m;
  for (int i = 0; i < 8; ++i) m.Ack(m.Fill());
  const Seqs s = m.Fill();
  m.now = m.sender.NextTimeout();
  m.Timeout();
  const std::uint32_t ssthresh = m.ssthresh();
  m.Ack({}, {s[0]});
  EXPECT_EQ(m.ssthresh(), ssthresh);
  Feedback base;
  base.nonce = NonceVerdict::kMismatch;
  m.Ack({s[1]}, {}, base);
  EXPECT_EQ(m.ssthresh(), ssthresh);
  EXPECT_EQ(m.sender.Stats().loss_events, 0u);
}

TEST(Ccid2Timer, R4341_RTO_03_ExpiriesDoubleTheTimeout) {
  Ccid2Model m(InitWithoutRtt());
  Duration expected = 1s;
  for (int i = 0; i < 10; ++i) {
    m.Fill();
    EXPECT_EQ(m.sender.NextTimeout() - m.now, expected) << i;
    m.now = m.sender.NextTimeout();
    m.Timeout();
    expected = std::min<Duration>(2 * expected, 64s);
  }
  const std::int64_t seq = m.Send();
  m.now += 100ms;
  m.Ack({seq});
  EXPECT_LT(m.sender.Stats().rto, 500ms);
}

TEST(Ccid2Timer, R4341_RTO_03_AnAckOfAnAbandonedPacketEndsTheBackOff) {
  Ccid2Model m(InitWithoutRtt());
  const Seqs s = m.Fill();
  m.now = m.sender.NextTimeout();
  m.Timeout();
  ASSERT_EQ(m.sender.Stats().rto, 2s);
  m.now += 500ms;
  m.Ack({s[0]});  // the round trip is 1.5 s
  EXPECT_EQ(m.sender.Stats().srtt, 1500ms);
  EXPECT_EQ(m.sender.Stats().rto, 4500ms);
}

TEST(Ccid2Timer, R4341_RTO_03_SoDoesOneOfAWindowThatWasSampledBefore) {
  Ccid2Model m;
  const Seqs s = m.Fill();
  m.now += 100ms;
  m.Ack({s[0]});
  m.now = m.sender.NextTimeout();
  m.Timeout();
  m.Ack({s[1]});
  EXPECT_NE(m.sender.Stats().srtt, 100ms);
  EXPECT_EQ(m.sender.Stats().rto,
            m.sender.Stats().srtt + std::max<Duration>(250ms, 4 * m.sender.Stats().rttvar));
}

TEST(Ccid2Timer, R4341_RTO_01_Bug_D11_OneSampleAWindow) {
  Ccid2Model m;  // handshake: 100 ms
  const Seqs s = m.Fill();
  m.now += 180ms;
  m.Ack({s[0]});
  EXPECT_EQ(m.sender.Stats().srtt, 110ms);
  m.now += 500ms;
  m.Ack({s[1]});
  m.Ack({s[2], s[3]});
  EXPECT_EQ(m.sender.Stats().srtt, 110ms);  // the same window
  const std::int64_t next = m.Send();
  m.now += 30ms;
  m.Ack({next});
  EXPECT_EQ(m.sender.Stats().srtt, 100ms);
}

TEST(Ccid2Timer, R4341_RTO_06_UsesTheHandshakeRoundTrip) {
  EXPECT_EQ(Ccid2Model().sender.Stats().srtt, 100ms);
  Ccid2Model m(InitWithoutRtt());
  m.sender.OnPathInfo({40ms, 1000}, m.now);
  EXPECT_EQ(m.sender.Stats().srtt, 40ms);
  m.sender.OnPathInfo({900ms, 1000}, m.now);  // an estimate exists
  EXPECT_EQ(m.sender.Stats().srtt, 40ms);
}

TEST(Ccid2Timer, R4341_RTO_02_OutlastsADelayedAckButNotASecond) {
  Ccid2Model m;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t seq = m.Send();
    m.now += 1ms;
    m.Ack({seq});
  }
  EXPECT_GT(m.sender.Stats().rto, 201ms + 20ms);
  EXPECT_LT(m.sender.Stats().rto, 400ms);
}

TEST(Ccid2Timer, Bug_D15_DataAfterALongSilenceDoesNotTimeOutAtOnce) {
  Ccid2Model m;
  m.Ack(m.Fill());
  m.now += 24h * 60;
  m.Fill();
  EXPECT_EQ(m.sender.NextTimeout(), m.now + m.sender.Stats().rto);
}

TEST(Ccid2Timer, Bug_D17_APacketThatTheHistoryForgotDoesNotHoldTheWindow) {
  Ccid2Model m;
  m.Fill();
  Feedback feedback;  // as if the history had overflowed: nothing decided, nothing in flight
  feedback.now = m.now;
  feedback.acked = Seq64(kFirstSeq);
  m.sender.OnFeedback(feedback);
  EXPECT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.sender.MaySend(1000, m.now).kind, SendPermit::Kind::kNow);
}

}  // namespace
}  // namespace dccp::test
