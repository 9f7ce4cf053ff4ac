// Invariants of a CCID 2 sender under random feedback, and its long-run behaviour over a path.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <random>

#include "tests/unit/ccid/ccid2_loopback.h"

namespace dccp::test {
namespace {

class RandomFeedback {
 public:
  explicit RandomFeedback(std::uint64_t seed) : random_(seed), model_(Init()) {
    model_.report_in_flight = false;
  }

  void Step() {
    model_.now += std::chrono::microseconds(random_() % 60000);
    switch (random_() % 8) {
      case 0:
        model_.Send(false);
        break;
      case 1:
      case 2:
        SendSome();
        break;
      case 3:
        if (model_.sender.NextTimeout() <= model_.now) Check(model_.Timeout());
        break;
      default:
        Acknowledge();
        break;
    }
    ASSERT_EQ(model_.pipe(), model_.in_flight());
    ASSERT_GE(model_.cwnd(), 1u);
    ASSERT_GE(model_.ssthresh(), 2u);
    ASSERT_LE(model_.cwnd(), std::max<std::uint64_t>(sequence_window_ - sequence_window_ / 4, 1));
    ASSERT_TRUE(model_.in_flight() == 0 || model_.sender.NextTimeout() != kNever);
  }

 private:
  static CcidInit Init() {
    CcidInit init = DefaultInit();
    init.sequence_window = 100;
    return init;
  }

  void SendSome() {
    const SendPermit permit = model_.sender.MaySend(1000, model_.now);
    ASSERT_EQ(permit.kind == SendPermit::Kind::kNow, model_.pipe() < model_.cwnd());
    if (permit.kind != SendPermit::Kind::kNow) return;
    ASSERT_EQ(permit.packets, model_.cwnd() - model_.pipe());
    model_.SendMany(static_cast<std::uint32_t>(random_() % permit.packets) + 1);
  }

  // Reports a random subset of what is undecided, some of it marked, and some old packets again.
  void Acknowledge() {
    std::vector<std::int64_t> received;
    std::vector<std::int64_t> marked;
    const std::uint64_t share = random_() % 100;
    for (std::int64_t seq : model_.undecided()) {
      if (random_() % 100 >= share) continue;
      (random_() % 50 == 0 ? marked : received).push_back(seq);
    }
    for (int i = 0; i < 3; ++i) {
      const std::int64_t span = model_.next() - kFirstSeq;
      if (span > 0) received.push_back(kFirstSeq + static_cast<std::int64_t>(random_()) % span);
    }
    std::erase_if(received, [](std::int64_t seq) { return seq < kFirstSeq; });
    Feedback base;
    base.slow_receiver = random_() % 40 == 0;
    base.reverse_lost = random_() % 10 == 0 ? 1 : 0;
    base.nonce = random_() % 100 == 0 ? NonceVerdict::kMismatch : NonceVerdict::kUnknown;
    const DataDroppedRun drop = {Seq64(model_.next() - 5),
                                 1 + static_cast<std::uint32_t>(random_() % 4),
                                 DropCode(random_() % 7 + 2)};
    if (random_() % 40 == 0 && drop.code != DropCode(8)) base.data_dropped = {&drop, 1};
    Check(model_.Ack(received, marked, base));
  }

  void Check(const CcidRequests& requests) {
    if (const auto ratio = Requested(requests, FeatureNumber::kAckRatio)) {
      ASSERT_GE(*ratio, model_.cwnd() >= 4 ? 2u : 1u);
      ASSERT_LE(*ratio, std::max(2u, (model_.cwnd() + 1) / 2));
      if (random_() % 3 != 0) model_.sender.OnFeature(FeatureNumber::kAckRatio, *ratio, true);
    }
    if (const auto window = Requested(requests, FeatureNumber::kSequenceWindow)) {
      ASSERT_TRUE(std::has_single_bit(*window));
      ASSERT_GT(*window, sequence_window_);
      if (random_() % 2 != 0) {
        model_.sender.OnFeature(FeatureNumber::kSequenceWindow, *window, true);
        sequence_window_ = *window;
      }
    }
  }

  std::mt19937_64 random_;
  Ccid2Model model_;
  std::uint64_t sequence_window_ = 100;
};

TEST(Ccid2Property, R4341_CWND_06_Bug_D17_PipeEqualsTheModelForAnyFeedback) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomFeedback scenario(seed);
    for (int i = 0; i < 400; ++i) {
      scenario.Step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// The mean window of AIMD by halves is about 1.2 / sqrt(p).
TEST(Ccid2Property, R4341_CWND_12_MeanWindowFollowsTheSquareRootLaw) {
  for (const double p : {0.02, 0.01, 0.001, 0.0003}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      LoopbackConfig config;
      config.data_loss = p;
      config.seed = seed;
      const LoopbackResult r = Ccid2Loopback(config).Run(p < 0.001 ? 1000s : 400s);
      const double expected = 1.2 / std::sqrt(p);
      EXPECT_NEAR(r.mean_cwnd, expected, 0.25 * expected) << "p " << p << " seed " << seed;
    }
  }
}

TEST(Ccid2Property, R4341_ECN_01_MarksActLikeLossesOnTheWindow) {
  LoopbackConfig config;
  config.data_mark = 0.01;
  const LoopbackResult r = Ccid2Loopback(config).Run(400s);
  EXPECT_NEAR(r.mean_cwnd, 12, 3);
  EXPECT_EQ(r.stats.loss_events, r.stats.mark_events);
  EXPECT_EQ(r.stats.timeouts, 0u);
}

TEST(Ccid2Property, R4341_AOA_01_AcksOfAcksKeepUpWithTheWindow) {
  LoopbackConfig config;
  config.data_loss = 0.003;
  const LoopbackResult r = Ccid2Loopback(config).Run(200s);
  EXPECT_LE(r.max_behind, r.max_cwnd);
  EXPECT_GT(r.max_cwnd, 20u);
}

TEST(Ccid2Property, R4341_CWND_15_Bug_D13_Bug_G1_LosslessPathIsNotHeldBackByTheSequenceWindow) {
  LoopbackConfig config;
  config.options.max_cwnd_packets = 3000;
  const LoopbackResult r = Ccid2Loopback(config).Run(5s);
  EXPECT_EQ(r.max_cwnd, 3000u);
  EXPECT_EQ(r.max_ratio, 64u);
  EXPECT_EQ(r.stats.timeouts, 0u);
}

// No flow may come to rest while there is something to send: not at small windows, where an
// acknowledgement may wait for its timer, nor with heavy loss in either direction.
TEST(Ccid2Property, Bug_D1_Bug_D17_NoStallBeyondTheTimeout) {
  for (const double loss : {0.0, 0.02, 0.2}) {
    for (const Duration interval : {Duration::zero(), Duration(2ms), Duration(300ms)}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        LoopbackConfig config;
        config.data_loss = loss;
        config.ack_loss = loss;
        config.app_interval = interval;
        config.seed = seed;
        config.options.max_cwnd_packets = 200;
        const LoopbackResult r = Ccid2Loopback(config).Run(100s);
        // RTO is about 400 ms here; heavy loss may back it off a few times.
        EXPECT_LT(r.longest_pause, loss < 0.1 ? Duration(2s) : Duration(64s))
            << loss << ' ' << interval.count() << ' ' << seed;
        EXPECT_GT(r.delivered, 100u);
      }
    }
  }
}

TEST(Ccid2Property, R4341_RTO_02_SparseDataCausesNoTimeouts) {
  LoopbackConfig config;
  config.app_interval = 1s;
  const LoopbackResult r = Ccid2Loopback(config).Run(1000s);
  EXPECT_EQ(r.stats.timeouts, 0u);
  EXPECT_GE(r.delivered, 999u);
}

TEST(Ccid2Property, R4341_AR_04_LossOfAcksLowersTheirNumber) {
  LoopbackConfig config;
  config.options.acks_per_window = 0;
  config.options.max_cwnd_packets = 100;
  config.sequence_window = 1u << 16;
  const LoopbackResult clean = Ccid2Loopback(config).Run(200s);
  config.ack_loss = 0.2;
  const LoopbackResult lossy = Ccid2Loopback(config).Run(200s);
  EXPECT_EQ(clean.max_ratio, 2u);
  EXPECT_GT(lossy.max_ratio, 8u);
  EXPECT_LT(lossy.acks, clean.acks / 3);
}

// Linux acknowledges each Ack Ratio packets and has no timer for the rest: the last packet of a
// flow stays without an answer, a window of one has to have a ratio of one.
TEST(Ccid2Property, R4341_LNX_01_AReceiverWithoutATimerStopsNothing) {
  for (double loss : {0.0, 0.01, 0.1}) {
    LoopbackConfig config;
    config.data_loss = config.ack_loss = loss;
    config.sequence_window = 1u << 16;
    config.options.max_cwnd_packets = 200;
    const LoopbackResult timer = Ccid2Loopback(config).Run(200s);
    config.by_ratio_only = true;
    const LoopbackResult without = Ccid2Loopback(config).Run(200s);
    EXPECT_GT(static_cast<double>(without.delivered), 0.7 * static_cast<double>(timer.delivered))
        << loss;
    EXPECT_LT(without.longest_pause, 5s) << loss;
  }
}

// The least time, of several tries, that a thousand feedbacks take which each report `packets` in
// one run.
std::chrono::nanoseconds CostOfFeedback(std::uint32_t packets) {
  auto least = std::chrono::nanoseconds::max();
  for (int attempt = 0; attempt < 20; ++attempt) {
    Ccid2Options options;
    options.max_cwnd_packets = 1u << 20;
    ccid2::Ccid2Sender sender(DefaultInit(), options);
    TimePoint now = kStart;
    Seq64 seq(kFirstSeq);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i, now += 100ms) {
      sender.OnSent({seq, packets, 1000ull * packets, true, false, now});
      const FateRun run = {seq, packets, packets, 1000ull * packets, now, now, Fate::kReceived};
      Feedback feedback;
      feedback.now = now + 50ms;
      feedback.acked = seq + (packets - 1);
      feedback.ack_vector = true;
      feedback.runs = {&run, 1};
      feedback.received_data_packets = packets;
      feedback.rtt = 50ms;
      sender.OnFeedback(feedback);
      seq = seq + packets;
    }
    least = std::min<std::chrono::nanoseconds>(least, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(sender.Stats().pipe_packets, 0u);
  }
  return least;
}

// Were it the packets, the second would take a hundred thousand times as long.
TEST(Ccid2Property, AFeedbackCostsItsRunsNotItsPackets) {
  EXPECT_LT(CostOfFeedback(200'000), 20 * CostOfFeedback(2));
}

}  // namespace
}  // namespace dccp::test
