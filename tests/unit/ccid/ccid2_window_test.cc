// The window of a CCID 2 sender. RFC 4341 §5
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

using Kind = SendPermit::Kind;
using Seqs = std::vector<std::int64_t>;

CcidInit InitFor(std::uint32_t mps_bytes) {
  CcidInit init = DefaultInit();
  init.path.mps_bytes = mps_bytes;
  return init;
}

// A sender whose window has grown in slow start to `cwnd`, its configured maximum, with nothing in
// flight.
Ccid2Model Grown(std::uint32_t cwnd, Ccid2Options options = {}) {
  options.acks_per_window = 0;
  options.max_cwnd_packets = cwnd;
  Ccid2Model m(DefaultInit(), options);
  while (m.cwnd() < cwnd) {
    const Seqs seqs = m.Fill();
    m.now += 100ms;
    for (std::size_t i = 0; i < seqs.size(); i += 2) {
      m.Ack({seqs.begin() + static_cast<std::ptrdiff_t>(i),
             seqs.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, seqs.size()))});
    }
  }
  return m;
}

TEST(Ccid2Window, R4341_CWND_01_CWND_02_PermitsExactlyWhatTheWindowLeaves) {
  Ccid2Model m;
  EXPECT_EQ(m.sender.MaySend(1000, m.now).kind, Kind::kNow);
  EXPECT_EQ(m.sender.MaySend(1000, m.now).packets, 4u);
  m.SendMany(3);
  EXPECT_EQ(m.sender.MaySend(1000, m.now).packets, 1u);
  m.Send();
  EXPECT_EQ(m.sender.MaySend(1000, m.now).kind, Kind::kBlocked);
}

TEST(Ccid2Window, Bug_D12_FullWindowWaitsForFeedbackNotForAClock) {
  Ccid2Model m;
  m.Fill();
  const SendPermit permit = m.sender.MaySend(1000, m.now);
  EXPECT_EQ(permit.kind, Kind::kBlocked);
  EXPECT_EQ(permit.at, kNever);
  EXPECT_GE(m.sender.NextTimeout(), m.now + 100ms);  // nothing to poll for but the RTO
}

TEST(Ccid2Window, R4341_CWND_03_OnlyDataEntersThePipe) {
  Ccid2Model m;
  m.Send(true);
  m.Send(false);
  m.Send(true);
  EXPECT_EQ(m.pipe(), 2u);
  m.sender.OnSent({Seq64(m.next()), 2, 2000, true, false, m.now});
  EXPECT_EQ(m.pipe(), 4u);
}

TEST(Ccid2Window, R4341_CWND_04_ReceivedAndMarkedDataLeavesThePipe) {
  Ccid2Model m;
  const Seqs s = m.SendMany(4);
  m.Ack({s[0]});
  EXPECT_EQ(m.pipe(), 3u);
  m.Ack({s[1]}, {s[2]});
  EXPECT_EQ(m.pipe(), 1u);
}

TEST(Ccid2Window, R4341_CWND_05_LostDataLeavesThePipeAfterThreeLaterPacketsOfAnyKind) {
  Ccid2Model m;
  const std::int64_t lost = m.Send();
  const std::int64_t ack = m.Send(false);
  const Seqs s = m.SendMany(2);
  m.Ack({ack});
  m.Ack({s[0]});
  EXPECT_EQ(m.pipe(), 2u);  // `lost` and s[1]
  m.Ack({s[1]});
  EXPECT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.cwnd(), 2u);
  m.Ack({lost});
  EXPECT_EQ(m.pipe(), 0u);
}

TEST(Ccid2Window, R4341_CWND_06_PipeFallsOncePerPacket) {
  Ccid2Model m;
  const Seqs s = m.SendMany(4);
  m.Ack({s[1], s[2], s[3]});  // s[0] is lost
  EXPECT_EQ(m.pipe(), 0u);
  m.SendMany(2);
  m.Ack({s[0]});        // late after all
  m.Ack({s[1], s[2]});  // true duplicates
  EXPECT_EQ(m.pipe(), 2u);
}

TEST(Ccid2Window, R4341_CWND_07_NonDataNeverLeavesThePipe) {
  Ccid2Model m;
  m.Send(true);
  const std::int64_t a = m.Send(false);
  const std::int64_t b = m.Send(false);
  m.Ack({a, b});
  EXPECT_EQ(m.pipe(), 1u);
}

TEST(Ccid2Window, R4341_CWND_07_LostNonDataIsNoCongestionEvent) {
  Ccid2Model m;
  m.Send(false);
  m.Ack(m.SendMany(4));
  EXPECT_EQ(m.sender.Stats().loss_events, 0u);
}

// The entries differ between 1461 and 2189 bytes: RFC 3390's bound is 4380 bytes, which three such
// packets would exceed, so this follows the bound.
TEST(Ccid2Window, R4341_CWND_08_Bug_D5_InitialWindowFollowsRfc3390) {
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {
      {1, 4},    {500, 4},  {1000, 4}, {1095, 4}, {1096, 3},  {1400, 3},
      {1460, 3}, {1461, 2}, {2189, 2}, {2200, 2}, {60000, 2}, {0, 2}};
  for (const auto& [bytes, packets] : cases) {
    EXPECT_EQ(Ccid2Model(InitFor(bytes)).cwnd(), packets) << bytes;
  }
  EXPECT_EQ(Ccid2Model().ssthresh(), std::numeric_limits<std::uint32_t>::max());
}

TEST(Ccid2Window, R4341_CWND_08_PacketSizeLearntBeforeDataSetsTheInitialWindow) {
  Ccid2Model m(InitFor(0));
  m.sender.OnPathInfo({100ms, 1000}, m.now);
  EXPECT_EQ(m.cwnd(), 4u);
}

TEST(Ccid2Window, R4341_SZ_01_SmallerPacketsDoNotOpenAWindowInUse) {
  Ccid2Model m(InitFor(1400));
  m.Send();
  m.sender.OnPathInfo({100ms, 500}, m.now);
  EXPECT_EQ(m.cwnd(), 3u);
}

TEST(Ccid2Window, R4341_CWND_09_SlowStartAddsOnePacketForTwo) {
  Ccid2Model m;
  const Seqs s = m.Fill();
  m.Ack({s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 5u);
  m.Ack({s[2]});
  EXPECT_EQ(m.cwnd(), 5u);  // half a packet is carried
  m.Ack({s[3]});
  EXPECT_EQ(m.cwnd(), 6u);
}

TEST(Ccid2Window, R4341_CWND_09_SlowStartIsCappedAtHalfTheAckRatioPerAck) {
  for (const auto& [ratio, growth] : {std::pair{1u, 0u}, {2u, 1u}, {3u, 1u}, {4u, 2u}}) {
    CcidInit init = DefaultInit();
    init.ack_ratio = ratio;
    Ccid2Model m(init);
    m.Ack(m.Fill());
    EXPECT_EQ(m.cwnd(), 4 + growth) << ratio;
  }
}

TEST(Ccid2Window, R4341_CWND_09_AckRatioOneCarriesTheHalfOverTwoAcks) {
  CcidInit init = DefaultInit();
  init.ack_ratio = 1;
  Ccid2Model m(init);
  const Seqs s = m.Fill();
  m.Ack({s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 4u);
  m.Ack({s[2], s[3]});
  EXPECT_EQ(m.cwnd(), 5u);
}

TEST(Ccid2Window, R4341_CWND_10_AvoidanceAddsOnePacketPerWindow) {
  Ccid2Model m = Grown(20);
  const Seqs lost = m.Fill();
  m.Ack({lost.begin() + 1, lost.end()});  // 20 -> 10, and pipe is empty
  ASSERT_EQ(m.cwnd(), 10u);
  for (std::uint32_t window = 10; window < 14; ++window) {
    const Seqs s = m.Fill();
    ASSERT_EQ(s.size(), window);
    for (std::size_t i = 0; i + 1 < s.size(); ++i) m.Ack({s[i]});
    EXPECT_EQ(m.cwnd(), window);
    m.Ack({s.back()});
    EXPECT_EQ(m.cwnd(), window + 1);
  }
}

TEST(Ccid2Window, R4341_CWND_10_AcksOfAWindowWithLossDoNotCount) {
  Ccid2Model m = Grown(20);
  const Seqs s = m.Fill();
  m.Ack({s[1], s[2], s[3]});
  ASSERT_EQ(m.cwnd(), 10u);
  m.Ack({s.begin() + 4, s.end()});  // sent before the loss was known
  const Seqs t = m.Fill();
  m.Ack({t.begin(), t.end() - 1});
  EXPECT_EQ(m.cwnd(), 10u);
  m.Ack({t.back()});
  EXPECT_EQ(m.cwnd(), 11u);
}

TEST(Ccid2Window, R4341_CWND_10_AnEventStartsTheCountAfresh) {
  Ccid2Model m = Grown(20);
  m.Ack({}, m.Fill());
  ASSERT_EQ(m.cwnd(), 10u);
  const Seqs s = m.Fill();
  m.Ack({s.begin(), s.end() - 1});  // nine of ten
  m.Ack({}, {s.back()});
  ASSERT_EQ(m.cwnd(), 5u);
  const Seqs t = m.Fill();
  m.Ack({t.begin(), t.end() - 1});
  EXPECT_EQ(m.cwnd(), 5u);
  m.Ack({t.back()});
  EXPECT_EQ(m.cwnd(), 6u);
}

TEST(Ccid2Window, R4341_CWND_11_Bug_D16_MarksAreOneEventAndNoGrowth) {
  Ccid2Model m = Grown(10);
  const Seqs s = m.Fill();
  m.Ack({}, {s[0]});
  EXPECT_EQ(m.cwnd(), 5u);
  EXPECT_EQ(m.ssthresh(), 5u);
  m.Ack({}, {s.begin() + 1, s.end()});
  EXPECT_EQ(m.cwnd(), 5u);
  EXPECT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.sender.Stats().loss_events, 1u);
  EXPECT_EQ(m.sender.Stats().mark_events, 1u);
}

TEST(Ccid2Window, R4341_CWND_12_EventHalvesRoundedDown) {
  Ccid2Model m = Grown(11);
  const std::pair<std::uint32_t, std::uint32_t> steps[] = {{5, 5}, {2, 2}, {1, 2}, {1, 2}};
  for (const auto& [cwnd, ssthresh] : steps) {
    m.now += 100ms;
    m.Ack({}, m.Fill());
    EXPECT_EQ(m.cwnd(), cwnd);
    EXPECT_EQ(m.ssthresh(), ssthresh);
  }
}

TEST(Ccid2Window, R4341_CWND_12_ThreeBecomesOne) {
  Ccid2Model m(InitFor(1400));
  m.Ack({}, m.Fill());
  EXPECT_EQ(m.cwnd(), 1u);
  EXPECT_EQ(m.ssthresh(), 2u);
}

TEST(Ccid2Window, R4341_CWND_13_Bug_D4_OneWindowIsHalvedOnce) {
  Ccid2Model m = Grown(20);
  const Seqs s = m.Fill();
  m.Ack({s[1], s[2], s[3]});  // s[0] lost
  EXPECT_EQ(m.cwnd(), 10u);
  m.Ack({s[5], s[6], s[7]});  // s[4] lost: the same window
  m.Ack({s.begin() + 9, s.end()}, {s[8]});
  EXPECT_EQ(m.cwnd(), 10u);
  const Seqs t = m.Fill();  // sent after the event was known
  m.Ack({t[1], t[2], t[3]});
  EXPECT_EQ(m.cwnd(), 5u);
  EXPECT_EQ(m.sender.Stats().loss_events, 2u);
}

TEST(Ccid2Window, R4341_IDLE_02_NoGrowthWhileTheWindowIsNotUsed) {
  Ccid2Model m;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(m.sender.MaySend(1000, m.now).kind, Kind::kNow);
    const std::int64_t seq = m.Send();
    m.now += 100ms;
    m.Ack({seq});
  }
  EXPECT_EQ(m.cwnd(), 4u);
}

TEST(Ccid2Window, R4341_IDLE_02_BatchedAcksOfAFullWindowStillGrow) {
  Ccid2Model m;
  const Seqs s = m.Fill();
  m.Ack({s[0], s[1]});  // pipe falls below cwnd before the second is read
  m.Ack({s[2], s[3]});
  EXPECT_EQ(m.cwnd(), 6u);
}

TEST(Ccid2Window, R4341_IDLE_01_SilenceHalvesTheWindowPerTimeout) {
  Ccid2Model m = Grown(64);
  const Duration rto = m.sender.Stats().rto;
  m.Ack(m.SendMany(1));
  m.now += 2 * rto + 1ms;
  m.sender.MaySend(1000, m.now);
  EXPECT_EQ(m.cwnd(), 16u);
  m.sender.MaySend(1000, m.now);  // asking again does not count the silence again
  EXPECT_EQ(m.cwnd(), 16u);
  m.now += 10 * rto;
  m.sender.MaySend(1000, m.now);
  EXPECT_EQ(m.cwnd(), 4u);  // the initial window
}

TEST(Ccid2Window, R4341_IDLE_01_SilenceDoesNotOpenASmallWindow) {
  Ccid2Model m;
  m.Ack({}, m.Fill());
  ASSERT_EQ(m.cwnd(), 2u);
  m.now += 1h;
  m.sender.MaySend(1000, m.now);
  EXPECT_EQ(m.cwnd(), 2u);
}

TEST(Ccid2Window, R4341_IDLE_01_ThresholdRemembersThreeQuarters) {
  Ccid2Model m = Grown(64);
  m.Ack({}, m.Fill());
  ASSERT_EQ(m.ssthresh(), 32u);
  m.now += 1h;
  m.sender.MaySend(1000, m.now);
  EXPECT_EQ(m.cwnd(), 4u);
  EXPECT_EQ(m.ssthresh(), 32u);  // already more than three quarters of 32
}

TEST(Ccid2Window, R4341_IDLE_01_ThresholdIsRaisedToWhatThePathCarried) {
  ccid2::CongestionWindow window(4);
  window.OnTimeout();
  ASSERT_EQ(window.ssthresh(), 2u);
  while (window.cwnd() < 20) window.Grow(window.cwnd(), 2, 1000);
  window.OnIdle(1, 4);
  EXPECT_EQ(window.cwnd(), 10u);
  EXPECT_EQ(window.ssthresh(), 15u);
  window.OnIdle(1000000, 4);
  EXPECT_EQ(window.cwnd(), 4u);
}

TEST(Ccid2Window, R4341_IDLE_02_AFullWindowGrowsThoughNobodyAskedForMore) {
  Ccid2Model m;
  const Seqs s = m.SendMany(4);
  m.Ack({s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 5u);
}

TEST(Ccid2Window, R4341_SET_03_CcvalIsZero) {
  Ccid2Model m;
  EXPECT_EQ(m.Build(PacketType::kData).ccval, 0);
  EXPECT_EQ(m.Build(PacketType::kDataAck).ccval, 0);
}

TEST(Ccid2Window, R4341_SET_05_UnknownCcidOptionsAreIgnored) {
  Ccid2Model m;
  const Seqs s = m.Fill();
  const std::array<RawOption, 2> options = {
      {{OptionType{192}, false, {}}, {OptionType{250}, true, {}}}};
  Feedback base;
  base.options = options;
  EXPECT_FALSE(m.Ack({s[0], s[1]}, {}, base).reset.has_value());
  EXPECT_EQ(m.cwnd(), 5u);
}

TEST(Ccid2Window, R4341_ECN_02_NonceMismatchIsTakenAsAMarkOncePerWindow) {
  Ccid2Model m = Grown(20);
  const Seqs s = m.Fill();
  Feedback base;
  base.nonce = NonceVerdict::kMismatch;
  m.Ack({s[0], s[1]}, {}, base);
  m.Ack({s[2], s[3]}, {}, base);
  EXPECT_EQ(m.cwnd(), 10u);
}

TEST(Ccid2Window, R4340_FT_11_R4341_CWND_15_SequenceWindowLimitsCwndUntilConfirmed) {
  CcidInit init = DefaultInit();
  init.sequence_window = 32;
  Ccid2Model m(init);
  std::uint64_t asked = 0;
  for (int round = 0; round < 40; ++round) {
    const Seqs s = m.Fill();
    m.now += 100ms;
    for (std::size_t i = 0; i + 1 < s.size(); i += 2) {
      asked = Requested(m.Ack({s[i], s[i + 1]}), FeatureNumber::kSequenceWindow).value_or(asked);
    }
    if (s.size() % 2 == 1) m.Ack({s.back()});
    EXPECT_LE(m.cwnd(), 24u);
  }
  EXPECT_EQ(m.cwnd(), 24u);
  EXPECT_EQ(asked, 128u);
  m.sender.OnFeature(FeatureNumber::kSequenceWindow, asked, true);
  const Seqs s = m.Fill();
  m.Ack({s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 25u);
}

TEST(Ccid2Window, R4340_FT_11_SmallerSequenceWindowShrinksCwnd) {
  Ccid2Model m = Grown(64);
  m.sender.OnFeature(FeatureNumber::kSequenceWindow, 40, true);
  EXPECT_EQ(m.cwnd(), 30u);
}

TEST(Ccid2Window, R4340_FT_10_Bug_D13_SequenceWindowRunsAheadOfSlowStart) {
  CcidInit init = DefaultInit();
  init.sequence_window = 100;
  Ccid2Model m(init);
  std::uint64_t pending = 100;
  for (int round = 0; round < 14; ++round) {
    const std::uint32_t before = m.cwnd();
    m.sender.OnFeature(FeatureNumber::kSequenceWindow, pending, true);
    const Seqs s = m.Fill();
    m.now += 100ms;
    int requests = 0;
    for (std::size_t i = 0; i < s.size(); i += 2) {
      const std::size_t end = std::min(i + 2, s.size());
      const CcidRequests r = m.Ack({s.begin() + static_cast<std::ptrdiff_t>(i),
                                    s.begin() + static_cast<std::ptrdiff_t>(end)});
      if (const auto ratio = Requested(r, FeatureNumber::kAckRatio)) {
        m.sender.OnFeature(FeatureNumber::kAckRatio, *ratio, true);
      }
      if (const auto window = Requested(r, FeatureNumber::kSequenceWindow)) {
        pending = *window;
        ++requests;
      }
    }
    EXPECT_LE(requests, 1) << "more than once a round trip";
    EXPECT_GE(m.cwnd(), before + before / 2 - 1) << "slow start was held up in round " << round;
  }
  EXPECT_GT(m.cwnd(), 500u);
}

TEST(Ccid2Window, R4340_FT_10_SequenceWindowIsAskedForInPowersOfTwoAndAgainIfUnanswered) {
  SequenceWindowControl control(100);
  EXPECT_EQ(control.Request(20, kStart, 100ms), std::nullopt);
  EXPECT_EQ(control.Request(21, kStart, 100ms), 128u);
  EXPECT_EQ(control.Request(200, kStart + 99ms, 100ms), std::nullopt);
  EXPECT_EQ(control.Request(200, kStart + 100ms, 100ms), 1024u);
  EXPECT_EQ(control.Request(200, kStart + 400ms, 100ms), std::nullopt);
  EXPECT_EQ(control.Request(200, kStart + 500ms, 100ms), 1024u);
  control.OnFeature(1024);
  EXPECT_EQ(control.Request(200, kStart + 10s, 100ms), std::nullopt);
  EXPECT_EQ(control.FlightLimit(), 768u);
  EXPECT_EQ(control.Request(std::uint64_t{1} << 60, kStart + 20s, 100ms),
            SequenceWindowControl::kMax);
}

TEST(Ccid2Window, R4340_LNX_19_TheFlightFitsThreeQuartersOfTheWindowRoundedDown) {
  for (std::uint64_t window = 1; window < 500; ++window) {
    const std::uint64_t limit = SequenceWindowControl(window).FlightLimit();
    EXPECT_EQ(limit, std::max<std::uint64_t>(3 * window / 4, 1)) << window;
  }
  EXPECT_EQ(SequenceWindowControl(SequenceWindowControl::kMax).FlightLimit(), 0xFFFFFFFFu);
}

TEST(Ccid2Window, R4340_FT_10_AcksOfAReceiverCountTowardsItsSequenceWindow) {
  CcidInit init = DefaultInit();
  init.sequence_window = 100;
  Ccid2Model m(init);
  std::optional<std::uint64_t> asked;
  for (int round = 0; round < 3 && !asked; ++round) {
    std::int64_t last = 0;
    for (int i = 0; i < 60; ++i) last = m.Send(false);
    m.now += 100ms;
    asked = Requested(m.Ack({last}), FeatureNumber::kSequenceWindow);
  }
  EXPECT_EQ(asked, 512u);  // five times 60
}

TEST(Ccid2Window, R4341_AOA_01_AcknowledgesAtLeastOncePerWindow) {
  Ccid2Model m = Grown(10);
  int since = 0;
  for (int i = 0; i < 100; ++i) {
    since = m.Build(PacketType::kData).acknowledge ? 0 : since + 1;
    EXPECT_LT(since, 10);
  }
}

TEST(Ccid2Window, R4341_AOA_01_PiggybackedAcksCount) {
  Ccid2Model m;
  for (int i = 0; i < 21; ++i) {
    EXPECT_FALSE(m.Build(i % 3 == 2 ? PacketType::kDataAck : PacketType::kData).acknowledge);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(m.Build(PacketType::kData).acknowledge);
    if (i % 3 == 2) m.Send(false);  // an Ack of its own
  }
}

TEST(Ccid2Window, R4341_AOA_01_RequestCannotAcknowledge) {
  Ccid2Model m;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(m.Build(PacketType::kRequest).acknowledge);
}

TEST(Ccid2Window, R4340_FT_07_PathChangeStartsAfresh) {
  Ccid2Model m = Grown(40);
  const Seqs s = m.Fill();
  m.sender.OnPathChange(m.now);
  EXPECT_EQ(m.cwnd(), 4u);
  EXPECT_EQ(m.ssthresh(), std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(m.pipe(), 40u);
  m.Ack({}, s);  // marks of the old path
  EXPECT_EQ(m.cwnd(), 4u);
  EXPECT_EQ(m.pipe(), 0u);
}

TEST(Ccid2Window, R4341_CWND_14_PacingSpreadsAWindow) {
  Ccid2Options options;
  options.pacing = true;
  CcidInit init = DefaultInit();
  Ccid2Model m(init, options);
  const TimePoint begin = m.now;
  std::vector<TimePoint> times;
  for (;;) {
    const SendPermit permit = m.sender.MaySend(1000, m.now);
    if (permit.kind == Kind::kBlocked) break;
    if (permit.kind == Kind::kAt) {
      ASSERT_GT(permit.at, m.now);
      m.now = permit.at;
      continue;
    }
    EXPECT_EQ(permit.packets, 1u);
    m.Send();
    times.push_back(m.now);
  }
  // Twice a window in a round trip of 100 ms: every 12.5 ms.
  EXPECT_THAT(times, testing::ElementsAre(begin, begin + 12500us, begin + 25ms, begin + 37500us));
}

}  // namespace
}  // namespace dccp::test
