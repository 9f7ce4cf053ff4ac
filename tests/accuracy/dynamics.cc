#include "tests/accuracy/dynamics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ccid/common/tfrc_equation.h"
#include "ccid/tfrc/loss_average.h"
#include "stack/lab/pair_lab.h"
#include "stack/lab/rate_bins.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kPacketBytes = 1500;

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

std::uint64_t ProductPackets(std::uint64_t rate_bps, Duration rtt) {
  const double packets = static_cast<double>(rate_bps) * Seconds(rtt) / 8 / kPacketBytes;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(packets), 10);
}

}  // namespace

// -------------------------------------------------------------------------------- slow start ----

double TimeToFill(CcidId ccid, std::uint64_t rate_bps, Duration rtt, std::uint64_t seed) {
  SeededRandom random(seed);
  lab::PairLabConfig config;
  config.seed = seed;
  // Up to 2 % more, so that runs differ.
  const Duration one_way =
      rtt / 2 +
      Duration(static_cast<Duration::rep>(random.Uniform() * 0.02 * Seconds(rtt) * 0.5e9));
  config.forward = {
      .delay = one_way, .rate_bps = rate_bps, .queue_packets = ProductPackets(rate_bps, rtt)};
  config.reverse = {.delay = one_way};
  config.flow.ccid = ccid;
  lab::PairLab lab(config);
  constexpr std::size_t kParts = 8;
  lab::RateBins bins(lab.simulator(), rtt / kParts, [&] { return lab.flow().received_bytes(); });
  const TimePoint start = lab.now();
  bins.Start();
  if (!lab.Open()) return std::numeric_limits<double>::infinity();
  const double wanted = 0.9 * static_cast<double>(rate_bps) / 8 *
                        static_cast<double>(config.flow.payload_bytes) / kPacketBytes;
  std::size_t next = kParts;
  while (lab.now() - start < seconds(30)) {
    lab.Run(rtt);
    const std::vector<double>& rates = bins.rates();
    for (; next <= rates.size(); ++next) {
      double sum = 0;
      for (std::size_t i = next - kParts; i < next; ++i) sum += rates[i];
      if (sum / kParts >= wanted) return static_cast<double>(next) * Seconds(bins.bin());
    }
  }
  return std::numeric_limits<double>::infinity();
}

// -------------------------------------------------------------------------------------- step ----

namespace {

// Many flows, each on a path of its own.
class Ensemble {
 public:
  Ensemble(Duration rtt, double loss, std::size_t flows, std::uint64_t seed) : rtt_(rtt) {
    for (std::size_t i = 0; i < flows; ++i) {
      lab::PairLabConfig config;
      config.seed = seed * 1000 + i;
      config.forward = {.delay = rtt / 2, .loss = loss};
      config.reverse = {.delay = rtt / 2};
      members_.push_back(std::make_unique<Member>(config, rtt));
      static_cast<void>(members_.back()->lab.Open());
    }
  }

  // Runs on with another loss rate; the sum of the rates in each round trip.
  std::vector<double> Run(double loss, std::size_t rtts) {
    std::vector<double> sum(rtts);
    for (const auto& member : members_) {
      member->lab.forward().model().Reconfigure({.delay = rtt_ / 2, .loss = loss});
      member->bins.Start();
      member->lab.Run(static_cast<std::int64_t>(rtts) * rtt_);
      const std::vector<double>& rates = member->bins.rates();
      for (std::size_t i = 0; i < std::min(rtts, rates.size()); ++i) sum[i] += rates[i];
    }
    return sum;
  }

 private:
  struct Member {
    Member(const lab::PairLabConfig& config, Duration rtt)
        : lab(config), bins(lab.simulator(), rtt, [this] { return lab.flow().sent_bytes(); }) {}
    lab::PairLab lab;
    lab::RateBins bins;
  };

  Duration rtt_;
  std::vector<std::unique_ptr<Member>> members_;
};

// After how many round trips the mean over eight has come to within a tenth of its final value,
// which is that of the second half, and stays there through the first.
double SettledAfter(const std::vector<double>& rates) {
  constexpr std::size_t kSmooth = 8;
  const std::size_t tail = rates.size() / 2;
  double last = 0;
  for (std::size_t i = tail; i < rates.size(); ++i) last += rates[i];
  last /= static_cast<double>(rates.size() - tail);
  std::size_t since = 0;
  for (std::size_t i = 0; i + kSmooth <= tail; ++i) {
    double mean = 0;
    for (std::size_t k = 0; k < kSmooth; ++k) mean += rates[i + k] / kSmooth;
    if (std::abs(mean / last - 1) > 0.1) since = i + 1;
  }
  return static_cast<double>(since);
}

// An ideal TFRC sender, a round trip at a time.
class IdealSender {
 public:
  IdealSender(Duration rtt, double loss, std::uint64_t seed) : rtt_(rtt), random_(seed) {
    lengths_.fill(1 / loss);
    window_ = Window();
  }
  // Sends for a round trip; how many packets.
  double Send(double loss) {
    const double sent = window_;
    due_ += sent;
    while (due_ >= 1) {
      due_ -= 1;
      at_ += 1 / sent;
      lengths_[0] += 1;
      if (!random_.Chance(loss) || at_ - event_ <= 1) continue;
      event_ = at_;
      std::move_backward(lengths_.begin(), lengths_.end() - 1, lengths_.end());
      lengths_[0] = 1;
    }
    window_ = Window();
    return sent;
  }

 private:
  double Window() { return TfrcThroughput(1, rtt_, average_.Rate(lengths_, 0)) * Seconds(rtt_); }

  Duration rtt_;
  SeededRandom random_;
  tfrc::LossAverage average_{tfrc::HistoryDiscounting::kOff};
  std::array<double, tfrc::kIntervals + 1> lengths_;  // newest first
  double window_ = 1;                                 // packets a round trip
  double due_ = 0;
  double at_ = 0;     // time in round trips,
  double event_ = 0;  // and that of the last loss event
};

constexpr std::size_t kBeforeRtts = 200;
constexpr std::size_t kAfterRtts = 300;

}  // namespace

SettlingTimes MeasureStep(Duration rtt, double low_loss, double high_loss, std::size_t flows,
                          std::uint64_t seed) {
  Ensemble ensemble(rtt, low_loss, flows, seed);
  ensemble.Run(low_loss, kBeforeRtts);
  SettlingTimes times;
  times.worse_rtts = SettledAfter(ensemble.Run(high_loss, kAfterRtts));
  times.better_rtts = SettledAfter(ensemble.Run(low_loss, kAfterRtts));
  return times;
}

SettlingTimes PredictStep(Duration rtt, double low_loss, double high_loss, std::size_t flows,
                          std::uint64_t seed) {
  std::vector<IdealSender> senders;
  for (std::size_t i = 0; i < flows; ++i) senders.emplace_back(rtt, low_loss, seed * 1000 + i);
  const auto run = [&](double loss, std::size_t rtts) {
    std::vector<double> sum(rtts);
    for (IdealSender& sender : senders) {
      for (double& of_rtt : sum) of_rtt += sender.Send(loss);
    }
    return sum;
  };
  run(low_loss, kBeforeRtts);
  // Of this nothing is ideal: three packets later a loss is seen, a round trip later the sender
  // knows.
  constexpr double kFeedbackRtts = 2;
  SettlingTimes times;
  times.worse_rtts = kFeedbackRtts + SettledAfter(run(high_loss, kAfterRtts));
  times.better_rtts = kFeedbackRtts + SettledAfter(run(low_loss, kAfterRtts));
  return times;
}

// ----------------------------------------------------------------------------------- silence ----

SilenceFigures MeasureSilence(CcidId ccid, Duration silence, std::uint64_t seed) {
  constexpr std::uint64_t kRate = 10'000'000;
  constexpr Duration kRtt = milliseconds(40);
  lab::PairLabConfig config;
  config.seed = seed;
  config.forward = {
      .delay = kRtt / 2, .rate_bps = kRate, .queue_packets = ProductPackets(kRate, kRtt)};
  config.reverse = {.delay = kRtt / 2};
  config.flow.ccid = ccid;
  lab::PairLab lab(config);
  SilenceFigures figures;
  if (!lab.Open()) return figures;
  lab.Run(seconds(20));
  lab.flow().Pause();
  lab.Run(silence);
  std::vector<std::uint64_t> sent;
  double most_rate = 0;
  lab::Ticker ticker(lab.simulator(), milliseconds(1), [&] {
    const ConnectionInfo info = lab.flow().info();
    sent.push_back(info.counters.data_packets_sent);
    most_rate = std::max(most_rate, info.sender.x_bytes_per_second);
  });
  sent.push_back(lab.flow().sent_packets());
  ticker.Start();
  lab.flow().Resume();
  lab.Run(4 * kRtt);
  for (std::size_t i = 1; i < sent.size(); ++i)
    figures.burst_packets =
        std::max(figures.burst_packets, static_cast<double>(sent[i] - sent[i - 1]));
  // What ten milliseconds of unused time and the millisecond itself are worth, and the packet that
  // is due; or a small window.
  constexpr double kCreditSeconds = 0.01;
  constexpr double kInitialWindow = 3;  // 4380 bytes
  figures.allowed_packets = ccid == CcidId::k2
                                ? kInitialWindow
                                : 1 + std::floor((kCreditSeconds + 0.001) * most_rate /
                                                 static_cast<double>(config.flow.payload_bytes));
  return figures;
}

// ------------------------------------------------------------------------------------- cells ----

std::vector<lab::Cell> DynamicsCells() {
  std::vector<lab::Cell> cells;
  for (const CcidId ccid : {CcidId::k2, CcidId::k3}) {
    const std::string name = ccid == CcidId::k2 ? "CCID 2" : "CCID 3";
    cells.push_back({.section = "dynamics",
                     .name = "slow start of " + name + ", 10 Mbit/s, 40 ms",
                     .measures = {{.name = "seconds to 90 % of the path",
                                   .most = 1.5,
                                   .over = lab::Measure::Over::kEachRun}},
                     .seeds = 20,
                     .cost = 1500,
                     .run = [ccid](std::uint64_t seed) {
                       return std::vector<double>{
                           TimeToFill(ccid, 10'000'000, milliseconds(40), seed)};
                     }});
    cells.push_back(
        {.section = "dynamics",
         .name = "burst of " + name + " after 10 minutes of silence",
         .measures = {{.name = "packets in a millisecond"},
                      {.name = "allowed"},
                      {.name = "burst / allowed", .most = 1, .over = lab::Measure::Over::kEachRun}},
         .seeds = 20,
         .cost = 17000,
         .run = [ccid](std::uint64_t seed) {
           const SilenceFigures f = MeasureSilence(ccid, std::chrono::minutes(10), seed);
           return std::vector<double>{f.burst_packets, f.allowed_packets,
                                      f.burst_packets / f.allowed_packets};
         }});
  }
  constexpr std::size_t kFlows = 200;
  cells.push_back({.section = "dynamics",
                   .name = "loss from 1 % to 5 % and back, 100 ms, CCID 3",
                   .measures = {{.name = "round trips to settle at 5 %"},
                                {.name = "predicted: an ideal RFC 5348 §5"},
                                {.name = "settled / predicted", .most = 1.1},
                                {.name = "round trips to settle at 1 %"},
                                {.name = "predicted"},
                                {.name = "settled / predicted", .most = 1.1}},
                   .seeds = 20,
                   .cost = kFlows * 8000,
                   .run = [](std::uint64_t seed) {
                     const SettlingTimes f =
                         MeasureStep(milliseconds(100), 0.01, 0.05, kFlows, seed);
                     const SettlingTimes ideal =
                         PredictStep(milliseconds(100), 0.01, 0.05, kFlows, seed);
                     return std::vector<double>{
                         f.worse_rtts,  ideal.worse_rtts,  f.worse_rtts / ideal.worse_rtts,
                         f.better_rtts, ideal.better_rtts, f.better_rtts / ideal.better_rtts};
                   }});
  return cells;
}

}  // namespace dccp::accuracy
