#include "stack/sim/path_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace dccp {
namespace {

using Fate = PathVerdict::Fate;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(1));
constexpr int kTrials = 200'000;

// Expects `hits` of kTrials to be what a probability `p` gives, within the 99.9 % interval of the
// normal approximation.
void ExpectShare(int hits, double p, int trials = kTrials) {
  constexpr double kZ = 3.2905;
  const double n = trials;
  EXPECT_NEAR(hits, n * p, kZ * std::sqrt(n * p * (1 - p)));
}

template <typename Hit>
int CountHits(const PathConfig& config, Ecn ecn, Hit&& hit) {
  PathModel model(config, 42);
  int hits = 0;
  for (int i = 0; i < kTrials; ++i) {
    if (hit(model.Offer(1000, ecn, kStart + microseconds(i)))) ++hits;
  }
  return hits;
}

TEST(PathModel, DefaultDeliversAtOnce) {
  PathModel model({}, 1);
  const PathVerdict verdict = model.Offer(1500, Ecn::kEct0, kStart);
  EXPECT_EQ(verdict.fate, Fate::kDelivered);
  EXPECT_EQ(verdict.copies, 1);
  EXPECT_EQ(verdict.arrival[0], kStart);
  EXPECT_EQ(verdict.ecn, Ecn::kEct0);
  EXPECT_FALSE(verdict.corrupt);
}

TEST(PathModel, DelayAddsToServiceTimeAndQueue) {
  PathModel model({.delay = milliseconds(10), .rate_bps = 8'000'000}, 1);
  // 1000 bytes take 1 ms at 8 Mbit/s.
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).arrival[0], kStart + milliseconds(11));
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).arrival[0], kStart + milliseconds(12));
  EXPECT_EQ(model.queued_packets(kStart), 2u);
  EXPECT_EQ(model.queued_bytes(kStart + microseconds(1500)), 1000u);
  EXPECT_EQ(model.queued_packets(kStart + milliseconds(2)), 0u);
  // An idle transmitter begins anew.
  const TimePoint later = kStart + milliseconds(50);
  EXPECT_EQ(model.Offer(500, Ecn::kNotEct, later).arrival[0], later + microseconds(10'500));
}

TEST(PathModel, DropTailByPackets) {
  PathModel model({.rate_bps = 8'000'000, .queue_packets = 3}, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).fate, Fate::kDelivered);
  const PathVerdict full = model.Offer(1000, Ecn::kNotEct, kStart);
  EXPECT_EQ(full.fate, Fate::kQueueFull);
  EXPECT_EQ(full.copies, 0);
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart + milliseconds(1)).fate, Fate::kDelivered);
}

TEST(PathModel, DropTailByBytes) {
  PathModel model({.rate_bps = 8'000'000, .queue_bytes = 2500}, 1);
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).fate, Fate::kDelivered);
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).fate, Fate::kDelivered);
  EXPECT_EQ(model.Offer(501, Ecn::kNotEct, kStart).fate, Fate::kQueueFull);
  EXPECT_EQ(model.Offer(500, Ecn::kNotEct, kStart).fate, Fate::kDelivered);
}

TEST(PathModel, CarriesItsRate) {
  constexpr std::uint64_t kRate = 100'000'000;
  PathModel model({.rate_bps = kRate}, 1);
  TimePoint last;
  for (int i = 0; i < 10'000; ++i) last = model.Offer(1250, Ecn::kNotEct, kStart).arrival[0];
  EXPECT_EQ(last - kStart, std::chrono::seconds(1));
}

TEST(PathModel, MtuDropsUnlessFragmentationIsAllowed) {
  PathModel model({.mtu_bytes = 1280}, 1);
  EXPECT_EQ(model.Offer(1280, Ecn::kNotEct, kStart).fate, Fate::kDelivered);
  EXPECT_EQ(model.Offer(1281, Ecn::kNotEct, kStart).fate, Fate::kTooBig);
  EXPECT_EQ(model.Offer(1281, Ecn::kNotEct, kStart, true).fate, Fate::kDelivered);
}

TEST(PathModel, BernoulliLoss) {
  const int lost = CountHits({.loss = 0.03}, Ecn::kNotEct,
                             [](const PathVerdict& v) { return v.fate == Fate::kLost; });
  ExpectShare(lost, 0.03);
}

TEST(PathModel, LostPacketsTakeRoomOnTheLink) {
  PathModel model({.rate_bps = 8'000'000, .loss = 1}, 1);
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).fate, Fate::kLost);
  EXPECT_EQ(model.queued_packets(kStart), 1u);
}

// The chain is in its bad state with probability g / (g + b), and a bad period lasts 1 / b packets.
TEST(PathModel, GilbertElliottLossAndBurstLength) {
  PathModel model({.burst_loss = GilbertElliottConfig{.good_to_bad = 0.01, .bad_to_good = 0.25}},
                  7);
  int lost = 0;
  int bursts = 0;
  bool in_burst = false;
  for (int i = 0; i < kTrials; ++i) {
    const bool loss = model.Offer(1000, Ecn::kNotEct, kStart).fate == Fate::kLost;
    lost += loss ? 1 : 0;
    bursts += loss && !in_burst ? 1 : 0;
    in_burst = loss;
  }
  // Bursts begin independently: each good packet starts one with probability g.
  ExpectShare(bursts, 0.01, kTrials - lost);
  // The length is geometric with mean 4 and standard deviation sqrt(12).
  const double mean = static_cast<double>(lost) / bursts;
  EXPECT_NEAR(mean, 4.0, 3.2905 * std::sqrt(12.0 / bursts));
}

TEST(PathModel, GilbertElliottLosesInBothStates) {
  PathConfig config;
  config.burst_loss = GilbertElliottConfig{
      .good_to_bad = 0.5, .bad_to_good = 0.5, .loss_good = 0.1, .loss_bad = 0.3};
  const int lost =
      CountHits(config, Ecn::kNotEct, [](const PathVerdict& v) { return v.fate == Fate::kLost; });
  // Half the time in each state, independent from packet to packet.
  ExpectShare(lost, 0.2);
}

TEST(PathModel, Duplication) {
  const int twice = CountHits({.duplicate = 0.05}, Ecn::kNotEct,
                              [](const PathVerdict& v) { return v.copies == 2; });
  ExpectShare(twice, 0.05);
}

TEST(PathModel, Corruption) {
  const int corrupt =
      CountHits({.corrupt = 0.2}, Ecn::kNotEct, [](const PathVerdict& v) { return v.corrupt; });
  ExpectShare(corrupt, 0.2);
}

TEST(PathModel, MarksOnlyEcnCapablePackets) {
  const auto marked = [](const PathVerdict& v) { return v.ecn == Ecn::kCe; };
  ExpectShare(CountHits({.ecn_mark = 0.1}, Ecn::kEct0, marked), 0.1);
  ExpectShare(CountHits({.ecn_mark = 0.1}, Ecn::kEct1, marked), 0.1);
  EXPECT_EQ(CountHits({.ecn_mark = 0.1}, Ecn::kNotEct, marked), 0);
}

TEST(PathModel, JitterIsUniformAndKeepsOrder) {
  const PathConfig config = {
      .delay = milliseconds(10), .jitter = milliseconds(4), .jitter_keeps_order = true};
  PathModel model(config, 3);
  TimePoint last;
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint at = kStart + microseconds(100 * i);
    const TimePoint arrival = model.Offer(100, Ecn::kNotEct, at).arrival[0];
    EXPECT_GE(arrival, at + milliseconds(10));
    EXPECT_LE(arrival, at + milliseconds(14));
    EXPECT_GE(arrival, last);
    last = arrival;
  }
}

TEST(PathModel, JitterMeanAndReordering) {
  PathModel model({.jitter = milliseconds(4), .jitter_keeps_order = false}, 3);
  double sum_ms = 0;
  int overtakes = 0;
  TimePoint last;
  for (int i = 0; i < kTrials; ++i) {
    const TimePoint at = kStart + microseconds(100 * i);
    const TimePoint arrival = model.Offer(100, Ecn::kNotEct, at).arrival[0];
    sum_ms += std::chrono::duration<double, std::milli>(arrival - at).count();
    overtakes += arrival < last ? 1 : 0;
    last = arrival;
  }
  EXPECT_NEAR(sum_ms / kTrials, 2.0, 3.2905 * (4 / std::sqrt(12.0)) / std::sqrt(kTrials));
  EXPECT_GT(overtakes, kTrials / 3);
}

TEST(PathModel, ReorderedPacketsLetOthersPass) {
  const PathConfig config = {
      .delay = milliseconds(10), .reorder = 0.1, .reorder_delay = milliseconds(5)};
  const int late = CountHits(config, Ecn::kNotEct, [n = 0](const PathVerdict& v) mutable {
    const bool is_late = v.arrival[0] == kStart + microseconds(n++) + milliseconds(15);
    EXPECT_EQ(v.reordered, is_late);
    return is_late;
  });
  ExpectShare(late, 0.1);
}

TEST(PathModel, RedMarksCapablePacketsAndDropsOthers) {
  PathConfig config = {.rate_bps = 8'000'000, .queue_packets = 100};
  config.red = RedConfig{.weight = 0.05};
  for (const Ecn ecn : {Ecn::kEct0, Ecn::kNotEct}) {
    PathModel model(config, 5);
    int marked = 0;
    int dropped = 0;
    int full = 0;
    // One and a half times the rate.
    for (int i = 0; i < 20'000; ++i) {
      const PathVerdict v = model.Offer(1000, ecn, kStart + microseconds(667 * i));
      marked += v.ecn == Ecn::kCe ? 1 : 0;
      dropped += v.fate == Fate::kRedDropped ? 1 : 0;
      full += v.fate == Fate::kQueueFull ? 1 : 0;
    }
    if (ecn == Ecn::kEct0) {
      EXPECT_GT(marked, 1000);
      EXPECT_EQ(dropped, 0);
    } else {
      // Drops alone hold the queue: a third of what is offered has to go.
      EXPECT_EQ(marked, 0);
      EXPECT_NEAR(dropped, 20'000 / 3.0, 200);
      EXPECT_EQ(full, 0);
    }
  }
}

TEST(PathModel, ReconfigureTakesEffectWithTheNextPacket) {
  PathModel model({.delay = milliseconds(10), .rate_bps = 8'000'000}, 1);
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).arrival[0], kStart + milliseconds(11));
  model.Reconfigure({.delay = milliseconds(20), .rate_bps = 16'000'000});
  // Behind the packet in service, which still takes its millisecond.
  EXPECT_EQ(model.Offer(1000, Ecn::kNotEct, kStart).arrival[0], kStart + microseconds(21'500));
}

TEST(PathModel, SameSeedSameFates) {
  const PathConfig config = {.jitter = milliseconds(3), .loss = 0.1, .duplicate = 0.1};
  PathModel a(config, 9);
  PathModel b(config, 9);
  PathModel c(config, 10);
  int differences = 0;
  for (int i = 0; i < 1000; ++i) {
    const PathVerdict va = a.Offer(100, Ecn::kNotEct, kStart);
    const PathVerdict vb = b.Offer(100, Ecn::kNotEct, kStart);
    const PathVerdict vc = c.Offer(100, Ecn::kNotEct, kStart);
    EXPECT_EQ(va.fate, vb.fate);
    EXPECT_EQ(va.arrival, vb.arrival);
    differences += va.arrival != vc.arrival ? 1 : 0;
  }
  EXPECT_GT(differences, 100);
}

}  // namespace
}  // namespace dccp
