#include "ccid/ccid3/ccid3_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "ccid/ccid3/options.h"
#include "ccid/common/tfrc_equation.h"

namespace dccp::ccid3 {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = SendPermit::Kind;

constexpr TimePoint kStart{hours(1)};

// A sender with packets 0, 1, ... of `payload` bytes, and feedback of a test's own making.
class Sender {
 public:
  explicit Sender(Duration rtt = milliseconds(100), const Ccid3Options& options = {})
      : sender_(Init(rtt), options) {}

  // Sends one packet if it may.
  bool Send() {
    const SendPermit permit = sender_.MaySend(payload, now);
    if (permit.kind != Kind::kNow) return false;
    Force();
    return true;
  }
  void Force() {
    std::array<std::byte, 64> buffer;
    OptionWriter writer(buffer);
    last_build = sender_.OnBuild({PacketType::kData, next, payload, now}, writer);
    last_options.assign(writer.bytes().begin(), writer.bytes().end());
    sender_.OnSent({next, 1, payload, true, false, now});
    ++next;
  }
  // A burst of packets, told of at once.
  void ForceRun(std::uint32_t packets) {
    sender_.OnSent({next, packets, std::uint64_t{payload} * packets, true, false, now});
    next = next + packets;
  }
  // All that is allowed up to `end`; timers run.
  void RunUntil(TimePoint end) {
    for (;;) {
      while (Send()) {
      }
      const SendPermit permit = sender_.MaySend(payload, now);
      const TimePoint at = std::min({permit.at, sender_.NextTimeout(), end});
      if (at > now) now = at;
      if (now >= sender_.NextTimeout()) sender_.OnTimeout(now);
      if (now >= end) return;
    }
  }

  struct Answer {
    double x_recv = 0;
    std::optional<double> p = std::nullopt;
    std::vector<WireInterval> intervals = {};
    std::optional<Duration> rtt = milliseconds(100);
    std::vector<DataDroppedRun> dropped = {};
    bool slow = false;
  };
  CcidRequests Feed(const Answer& answer) {
    std::array<std::byte, 512> buffer;
    OptionWriter writer(buffer);
    if (answer.x_recv >= 0) AddReceiveRate(writer, answer.x_recv);
    if (answer.p) AddLossEventRate(writer, *answer.p);
    if (!answer.intervals.empty()) AddLossIntervals(writer, 0, answer.intervals);
    std::vector<RawOption> options;
    for (auto bytes = writer.bytes(); !bytes.empty();) {
      const auto length = std::to_integer<std::size_t>(bytes[1]);
      options.push_back({OptionType{std::to_integer<std::uint8_t>(bytes[0])}, false,
                         bytes.subspan(2, length - 2)});
      bytes = bytes.subspan(length);
    }
    const FateRun run = {next - covered,
                         covered,
                         covered,
                         std::uint64_t{payload} * covered,
                         now - milliseconds(100),
                         now - milliseconds(100),
                         Fate::kReceived};
    Feedback feedback;
    feedback.now = now;
    feedback.acked = next - 1;
    feedback.runs = {&run, 1};
    feedback.rtt = answer.rtt;
    feedback.data_dropped = answer.dropped;
    feedback.slow_receiver = answer.slow;
    feedback.options = options;
    return sender_.OnFeedback(feedback);
  }
  // No loss so far.
  Answer Clean(double x_recv) const {
    Answer answer;
    answer.x_recv = x_recv;
    answer.intervals = {{static_cast<std::uint32_t>(next.value()), 0, 0, false}};
    return answer;
  }
  double x() const { return sender_.Stats().x_bytes_per_second; }
  Ccid3Sender* operator->() { return &sender_; }

  TimePoint now = kStart;
  std::uint32_t covered = 1;  // packets that a feedback tells of
  Seq64 next{0};
  std::uint32_t payload = 1000;
  BuildDecision last_build;
  std::vector<std::byte> last_options;

 private:
  static CcidInit Init(Duration rtt) {
    CcidInit init = {};
    init.now = kStart;
    init.path = {rtt, 1400};
    init.sequence_window = 10000;
    return init;
  }
  Ccid3Sender sender_;
};

TEST(Ccid3Sender, R5348_SND_01_Bug_E5_APacketASecondAndATimerOfTwo) {
  Sender s(Duration::zero());
  EXPECT_TRUE(s.Send());
  EXPECT_EQ(s.x(), 1000);
  EXPECT_EQ(s->NextTimeout(), kStart + seconds(2));
  const SendPermit permit = s->MaySend(1000, s.now);
  ASSERT_EQ(permit.kind, Kind::kAt);
  EXPECT_NEAR(tfrc::Seconds(permit.at - kStart), 1, 0.001);
}

TEST(Ccid3Sender, R4342_GEN_03_R5348_SND_02_TheHandshakeGivesTheFirstRoundTrip) {
  Sender s;
  EXPECT_TRUE(s.Send());
  EXPECT_DOUBLE_EQ(s.x(), 40000);
}

TEST(Ccid3Sender, R5348_SND_02_TheFirstFeedbackMayGiveIt) {
  Sender s(Duration::zero());
  s.Send();
  s.now += milliseconds(100);
  s.Feed(s.Clean(0));
  EXPECT_DOUBLE_EQ(s.x(), 40000);
}

TEST(Ccid3Sender, R4342_GEN_04_R5348_NF_01_NF_07_WithoutFeedbackTheRateFallsToAPacketIn64Seconds) {
  Sender s(Duration::zero());
  s.Send();
  TimePoint last = s->NextTimeout();
  double x = 1000;
  for (int i = 0; i < 10; ++i) {
    s.now = s->NextTimeout();
    s->OnTimeout(s.now);
    x = std::max(x / 2, 1000.0 / 64);
    EXPECT_DOUBLE_EQ(s.x(), x);
    if (i > 0) {
      EXPECT_NEAR(tfrc::Seconds(s.now - last), 2 * 1000 / std::min(2 * x, 1000.0), 64.1) << i;
    }
    last = s.now;
    s.Force();
  }
  EXPECT_NEAR(tfrc::Seconds(s->NextTimeout() - s.now), 128, 1);
}

TEST(Ccid3Sender, R5348_SND_05_FB_08_Bug_E5_TheTimerHasNoUpperBound) {
  Sender s;
  s.Send();
  Sender::Answer answer;
  answer.p = 1;
  answer.x_recv = 10;
  s.now += milliseconds(900);
  s.Feed(answer);
  EXPECT_NEAR(tfrc::Seconds(s->NextTimeout() - s.now), 2 * 1000 / s.x(), 0.001);
  EXPECT_GT(s->NextTimeout() - s.now, seconds(1));
}

TEST(Ccid3Sender, Bug_E4_OnALocalNetworkTheTimerHasAFloor) {
  Sender s(microseconds(300));
  s.Send();
  s.now += microseconds(300);
  Sender::Answer answer = s.Clean(0);
  answer.rtt = microseconds(300);
  s.Feed(answer);
  EXPECT_GE(s->NextTimeout() - s.now, milliseconds(100));
}

TEST(Ccid3Sender, R4342_FB_03_OtherAcknowledgementsAreNoFeedback) {
  Sender s;
  s.Send();
  const TimePoint timer = s->NextTimeout();
  s.now += milliseconds(150);
  Sender::Answer nothing;
  nothing.x_recv = -1;
  s.Feed(nothing);
  Sender::Answer only_intervals = s.Clean(-1);
  s.Feed(only_intervals);
  Sender::Answer only_rate;
  only_rate.x_recv = 5000;
  s.Feed(only_rate);
  EXPECT_EQ(s->NextTimeout(), timer);
  EXPECT_DOUBLE_EQ(s.x(), 40000);
}

TEST(Ccid3Sender, R4342_LNX_01_Bug_E32_LossEventRateAndReceiveRateAreEnough) {
  Sender s;
  s.Send();
  s.now += milliseconds(900);
  Sender::Answer answer;
  answer.p = 0.01;
  answer.x_recv = 1e9;
  s.Feed(answer);
  EXPECT_NEAR(s.x(), TfrcThroughput(1000, milliseconds(100), 0.01), 1);
  EXPECT_EQ(s->Stats().loss_events, 1u);
}

TEST(Ccid3Sender, R4342_LI_05_TheIntervalsAreMoreExactThanTheRate) {
  Sender s;
  for (int i = 0; i < 100; ++i) s.Force();
  s.now += milliseconds(900);
  Sender::Answer answer;
  answer.x_recv = 1e9;
  answer.p = 1.0 / 5;  // of 4.5, rounded up
  answer.intervals = {{1, 1, 2, false}, {4, 1, 5, false}, {3, 1, 4, false}, {89, 0, 0, false}};
  answer.intervals.pop_back();
  s.Feed(answer);
  EXPECT_NEAR(1 / s->Stats().loss_event_rate, 4.5, 1e-9);
}

// Data Length ends at 2^24 - 1 packets, Loss Event Rate at 2^32 - 2.
TEST(Ccid3Sender, R4342_LI_05_WhereAnIntervalIsFullTheRateIsMoreExact) {
  Sender s;
  s.Send();
  Sender::Answer answer;
  answer.x_recv = 1e8;
  answer.p = 1e-8;
  answer.intervals = {{kMax24, 1, kMax24, false}, {0, 0, kMax24, false}};
  s.Feed(answer);
  EXPECT_NEAR(s->Stats().loss_event_rate, 1e-8, 1e-10);
  answer.p = 0;  // it cannot be that there was no loss
  s.Feed(answer);
  EXPECT_NEAR(s->Stats().loss_event_rate, 1.0 / kMax24, 1e-10);
}

// The allowed rate is what RFC 5348 §4.3 says; what leaves is less where the path is full already.
TEST(Ccid3Sender, R5348_OSC_01_FB_04_SlowStartIsGentleWhereAQueueBuildsUp) {
  Ccid3Options options;
  options.oscillation_damping = false;
  Sender s(milliseconds(100), options);
  const auto sent_in_a_round_trip = [&] {
    const Seq64 before = s.next;
    s.RunUntil(s.now + milliseconds(100));
    return static_cast<double>(s.next - before);
  };
  for (int i = 0; i < 12; ++i) {
    sent_in_a_round_trip();
    s.Feed(s.Clean(1e6));
  }
  EXPECT_DOUBLE_EQ(s.x(), 2e6);
  EXPECT_NEAR(sent_in_a_round_trip(), 200, 12);
  Sender::Answer answer = s.Clean(1e6);
  answer.rtt = milliseconds(150);
  s.Feed(answer);
  sent_in_a_round_trip();
  s.Feed(answer);
  EXPECT_NEAR(sent_in_a_round_trip(), 112, 12);
  EXPECT_DOUBLE_EQ(s.x(), 2e6);
  s.Feed(s.Clean(1e6));
  EXPECT_NEAR(sent_in_a_round_trip(), 200, 12);
}

// Linux reports 0 at first, of packets that it has received. Where a queue seems to build up as
// well the sender kept to that rate: one packet in 64 seconds.
TEST(Ccid3Sender, R5348_FB_04_Bug_E29_AReceiveRateOfZeroDoesNotStopSlowStart) {
  Sender s(milliseconds(100));
  s.RunUntil(s.now + milliseconds(300));
  Sender::Answer answer;
  answer.p = 0;
  answer.rtt = milliseconds(150);
  s.Feed(answer);
  const Seq64 before = s.next;
  s.RunUntil(s.now + milliseconds(500));
  EXPECT_NEAR(static_cast<double>(s.next - before), 0.5 * 4 / 0.105, 6);  // RFC 5348 §4.2
}

TEST(Ccid3Sender, R4342_WC_01_Bug_E24_CcvalCountsInDataPacketsOnly) {
  Sender s;
  s.Force();
  EXPECT_EQ(s.last_build.ccval, 0);
  s.now += milliseconds(80);
  s->OnSent({s.next, 1, 0, false, false, s.now});  // an Ack
  ++s.next;
  s.Force();
  EXPECT_EQ(s.last_build.ccval, 3);
  for (int i = 0; i < 20; ++i) {
    s.now += seconds(1);
    s.Force();
  }
  EXPECT_EQ(s.last_build.ccval, (3 + 20 * 5) % 16);
}

TEST(Ccid3Sender, R6323_USE_01_FT_01_TheEstimateIsInEveryDataPacket) {
  Sender s(Duration::zero());
  s.Force();
  EXPECT_TRUE(s.last_options.empty());
  s->OnFeature(FeatureNumber::kSendRttEstimate, 1, true);
  s.Force();
  EXPECT_EQ(s.last_options, (std::vector<std::byte>{std::byte{128}, std::byte{3}, std::byte{0}}));
  s.now += milliseconds(100);
  s.Feed(s.Clean(0));
  s.Force();
  // 100000 microseconds.
  EXPECT_EQ(s.last_options, (std::vector<std::byte>{std::byte{128}, std::byte{5}, std::byte{1},
                                                    std::byte{0x86}, std::byte{0xA0}}));
  std::array<std::byte, 64> buffer;
  OptionWriter writer(buffer);
  s->OnBuildSync({PacketType::kSync, s.next, 0, s.now}, writer);
  EXPECT_EQ(writer.size(), 5u);
  s->OnFeature(FeatureNumber::kSendRttEstimate, 0, true);
  s.Force();
  EXPECT_TRUE(s.last_options.empty());
}

TEST(Ccid3Sender, R4342_AOA_01_WithAckVectorsAnAcknowledgementARoundTrip) {
  Sender s;
  s.Force();
  EXPECT_FALSE(s.last_build.acknowledge);
  s->OnFeature(FeatureNumber::kSendAckVector, 1, false);
  int acks = 0;
  for (int i = 0; i < 1000; ++i) {
    s.now += milliseconds(1);
    s.Force();
    acks += s.last_build.acknowledge ? 1 : 0;
  }
  EXPECT_NEAR(acks, 10, 1);
}

TEST(Ccid3Sender, R4342_DD_01_DD_02_BufferDropsLowerTheRateByPackets) {
  Sender s;
  s.Send();
  EXPECT_FALSE(s.Send());
  s.now += milliseconds(100);
  Sender::Answer answer;
  answer.p = 0.001;
  answer.x_recv = 100000;
  s.Feed(answer);
  ASSERT_GT(s.x(), 200000);
  answer.dropped = {{Seq64(0), 3, DropCode::kReceiveBuffer}};
  s.now += milliseconds(100);
  s.Feed(answer);
  // X_drop = 100000 - 3 * 10000; and three packets a round trip less than that.
  EXPECT_DOUBLE_EQ(s.x(), 70000 - 30000);
  answer.dropped = {{Seq64(0), 1000, DropCode::kReceiveBuffer}};
  s.Feed(answer);
  EXPECT_DOUBLE_EQ(s.x(), 10000);
}

TEST(Ccid3Sender, R4342_DD_03_CorruptionCountsAsAMark) {
  Sender s;
  for (int i = 0; i < 200; ++i) s.Force();
  s.now += milliseconds(900);
  Sender::Answer answer = s.Clean(100000);
  answer.dropped = {{Seq64(150), 1, DropCode::kCorrupt}};
  s.Feed(answer);
  EXPECT_GT(s->Stats().loss_event_rate, 0);
  EXPECT_EQ(s->Stats().mark_events, 1u);
}

TEST(Ccid3Sender, R4342_DD_02_ConstraintsOfTheProtocolAreNoCongestion) {
  Sender s;
  s.Send();
  s.now += milliseconds(100);
  Sender::Answer answer = s.Clean(0);
  answer.dropped = {{Seq64(0), 1, DropCode::kProtocolConstraints}};
  s.Feed(answer);
  EXPECT_DOUBLE_EQ(s.x(), 80000);
}

TEST(Ccid3Sender, R4342_DD_02_APeerThatDoesNotListenGetsNothing) {
  Sender s;
  s.Send();
  Sender::Answer answer = s.Clean(0);
  answer.dropped = {{Seq64(0), 1, DropCode::kAppNotListening}};
  s.Feed(answer);
  s.now += hours(1);
  EXPECT_EQ(s->MaySend(1000, s.now).kind, Kind::kBlocked);
}

TEST(Ccid3Sender, R5348_NF_02_NF_08_Bug_E20_HoursOfSilenceCostNoTimerAndEarnNoBurst) {
  Sender s;
  for (int i = 1; i <= 8; ++i) {
    s.RunUntil(kStart + i * milliseconds(100));
    s.Feed(s.Clean(i < 3 ? 0 : 1e9));
  }
  ASSERT_GT(s.x(), 1e6);
  int timers = 0;
  while (s->NextTimeout() != kNever) {
    ASSERT_LT(++timers, 50);
    s.now = s->NextTimeout();
    s->OnTimeout(s.now);
  }
  EXPECT_GE(s.x(), 40000);
  s.now += hours(5);
  int burst = 0;
  while (s.Send()) ++burst;
  EXPECT_GE(burst, 1);
  EXPECT_LE(burst, s.x() * 0.1 / 1000);
  EXPECT_NE(s->NextTimeout(), kNever);
}

TEST(Ccid3Sender, R5348_FB_09_ASlowApplicationIsNotHeldToItsRate) {
  Sender s;
  for (int i = 1; i <= 5; ++i) {
    s.RunUntil(kStart + i * milliseconds(100));
    s.Feed(s.Clean(i < 3 ? 0 : 500000));
  }
  const double before = s.x();
  for (int i = 0; i < 100; ++i) {
    s.now += milliseconds(500);
    s.Send();
    s.now += milliseconds(100);
    s.Feed(s.Clean(2000));
  }
  EXPECT_GE(s.x(), before);
}

TEST(Ccid3Sender, TheSequenceWindowFollowsTheRate) {
  Sender s;
  s.Send();
  std::uint64_t window = 10000;
  for (int i = 1; i < 16; ++i) {
    s.now += milliseconds(100);
    const CcidRequests requests = s.Feed(s.Clean(i < 2 ? 0 : 1e9));
    for (std::size_t k = 0; k < requests.feature_count; ++k) {
      EXPECT_EQ(requests.features[k].feature, FeatureNumber::kSequenceWindow);
      window = requests.features[k].value;
      s->OnFeature(FeatureNumber::kSequenceWindow, window, true);
    }
    s.Force();
  }
  EXPECT_GE(static_cast<double>(window), 5 * s.x() * 0.1 / 1000);
}

TEST(Ccid3Sender, WhatIsOvertakenSaysNothing) {
  Sender s;
  s.Force();
  s.Force();
  s.now += milliseconds(900);
  Sender::Answer answer;
  answer.p = 0.01;
  answer.x_recv = 1e6;
  s.Feed(answer);
  const double x = s.x();
  s.next = Seq64(1);
  answer.p = 1;
  s.Feed(answer);
  EXPECT_EQ(s.x(), x);
}

TEST(Ccid3Sender, Bug_E3_E28_AnyPacketSizeOverAnyRoundTrip) {
  for (std::uint32_t payload : {0u, 1u, 65475u}) {
    for (Duration rtt : {Duration(1), Duration(seconds(100))}) {
      Sender s(rtt);
      s.payload = 65475;
      s.Send();
      s.payload = payload;
      for (int i = 0; i < 100; ++i) {
        s.now += milliseconds(10);
        s.Send();
        Sender::Answer answer = s.Clean(i * 1000.0);
        answer.rtt = rtt;
        s.Feed(answer);
        ASSERT_TRUE(std::isfinite(s.x()));
        ASSERT_GT(s.x(), 0);
      }
    }
  }
}

TEST(Ccid3Sender, ANewPathStartsAfresh) {
  Sender s;
  for (int i = 1; i <= 5; ++i) {
    s.RunUntil(kStart + i * milliseconds(100));
    s.Feed(s.Clean(1e9));
  }
  s->OnPathChange(s.now);
  EXPECT_TRUE(s.Send());
  EXPECT_DOUBLE_EQ(s.x(), 1000);
}

// The least time, of several tries, that a thousand feedbacks take which each tell of `packets`.
std::chrono::nanoseconds CostOfFeedback(std::uint32_t packets) {
  auto least = std::chrono::nanoseconds::max();
  for (int attempt = 0; attempt < 20; ++attempt) {
    Sender s;
    s.covered = packets;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      s.ForceRun(packets);
      s.now += milliseconds(100);
      Sender::Answer answer = s.Clean(1e6);
      answer.intervals.front().lossless = std::min(answer.intervals.front().lossless, 0xFFFFFFu);
      s.Feed(answer);
    }
    least = std::min<std::chrono::nanoseconds>(least, std::chrono::steady_clock::now() - begin);
  }
  return least;
}

// Were it the packets, the second would take a hundred thousand times as long.
TEST(Ccid3Sender, AFeedbackCostsItsRunsNotItsPackets) {
  EXPECT_LT(CostOfFeedback(200'000), 20 * CostOfFeedback(2));
}

}  // namespace
}  // namespace dccp::ccid3
