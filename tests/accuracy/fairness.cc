#include "tests/accuracy/fairness.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "tests/accuracy/queues.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {
namespace {

using lab::FlowKind;

// A share of eight packets a round trip, so that each flow has a loss event every half second or so
// and the runs contain five hundred of each.
constexpr std::uint64_t kRatePerFlow = 2'000'000;

const char* Name(FlowKind kind) {
  switch (kind) {
    case FlowKind::kCcid2:
      return "CCID 2";
    case FlowKind::kCcid3:
      return "CCID 3";
    case FlowKind::kTcp:
      return "TCP Reno";
  }
  return "?";
}

const char* Name(Queue queue) { return queue == Queue::kRed ? "RED" : "drop-tail"; }

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

lab::Cell AlikeCell(FlowKind kind, std::size_t n, Queue queue) {
  FairnessSetting setting;
  setting.flows.assign(n, kind);
  setting.queue = queue;
  setting.rate_bps = kRatePerFlow * n;
  return {.section = "fairness",
          .name = std::to_string(n) + " x " + Name(kind) + ", " + Name(queue),
          .measures = {{.name = "Jain's index", .least = 0.95},
                       {.name = "used of the bottleneck"},
                       {.name = "least share"},
                       {.name = "largest share"}},
          .seeds = 20,
          .cost = static_cast<double>(n) * 170 * 1.25 *
                  std::chrono::duration<double>(setting.duration).count() * 2,
          .run = [setting](std::uint64_t seed) {
            const std::vector<double> shares = MeasureShares(setting, seed);
            const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
            return std::vector<double>{lab::JainIndex(shares),
                                       Sum(shares) / static_cast<double>(shares.size()), *least,
                                       *most};
          }};
}

// Half of the flows of one kind, half of the other.
lab::Cell MixedCell(FlowKind a, FlowKind b, std::size_t each, Queue queue, double factor) {
  FairnessSetting setting;
  setting.flows.assign(each, a);
  setting.flows.insert(setting.flows.end(), each, b);
  setting.queue = queue;
  setting.rate_bps = 2 * kRatePerFlow * each;
  const std::string pair = std::string(Name(a)) + " / " + Name(b);
  return {.section = "fairness",
          .name = std::to_string(each) + " + " + std::to_string(each) + ", " + pair + ", " +
                  Name(queue),
          .measures = {{.name = "mean share, " + pair, .least = 1 / factor, .most = factor},
                       {.name = "used of the bottleneck"}},
          .seeds = 20,
          .cost = static_cast<double>(each) * 340 * 1.25 *
                  std::chrono::duration<double>(setting.duration).count() * 2,
          .run = [setting, each](std::uint64_t seed) {
            const std::vector<double> shares = MeasureShares(setting, seed);
            const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(each);
            const double first = std::accumulate(shares.begin(), middle, 0.0);
            return std::vector<double>{first / (Sum(shares) - first),
                                       Sum(shares) / static_cast<double>(shares.size())};
          }};
}

}  // namespace

std::vector<double> MeasureShares(const FairnessSetting& setting, std::uint64_t seed) {
  constexpr std::size_t kPayload = 1440;
  const Duration access = std::chrono::milliseconds(5);
  lab::BottleneckLabConfig config;
  config.seed = seed;
  config.flows = setting.flows;
  config.payload_bytes = kPayload;
  config.access_delay = access;
  constexpr std::uint64_t kPacketBitNanos = std::uint64_t{12000} * 1'000'000'000;
  config.access_jitter = Duration(static_cast<Duration::rep>(kPacketBitNanos / setting.rate_bps));
  const Duration one_way = setting.rtt / 2 - 2 * access;
  config.bottleneck = BottleneckOf(setting.rate_bps, setting.rtt, setting.queue);
  config.bottleneck.delay = config.reverse_delay = one_way;
  lab::BottleneckLab lab(config);
  lab.Run(setting.duration / 4);
  const std::vector<std::uint64_t> before = lab.ReceivedBytes();
  lab.Run(setting.duration);
  const std::vector<std::uint64_t> after = lab.ReceivedBytes();
  const double equal_share = static_cast<double>(setting.rate_bps) / 8 *
                             std::chrono::duration<double>(setting.duration).count() /
                             static_cast<double>(setting.flows.size());
  std::vector<double> shares;
  for (std::size_t i = 0; i < after.size(); ++i)
    shares.push_back(static_cast<double>(after[i] - before[i]) / equal_share);
  return shares;
}

std::vector<lab::Cell> FairnessCells() {
  std::vector<lab::Cell> cells;
  for (const FlowKind kind : {FlowKind::kCcid2, FlowKind::kCcid3}) {
    for (const std::size_t n : {2u, 4u, 16u}) {
      for (const Queue queue : {Queue::kDropTail, Queue::kRed})
        cells.push_back(AlikeCell(kind, n, queue));
    }
  }
  for (const std::size_t each : {1u, 4u}) {
    for (const Queue queue : {Queue::kDropTail, Queue::kRed}) {
      cells.push_back(MixedCell(FlowKind::kCcid2, FlowKind::kTcp, each, queue, 1.5));
      cells.push_back(MixedCell(FlowKind::kCcid3, FlowKind::kCcid2, each, queue, 2));
    }
  }
  return cells;
}

}  // namespace dccp::accuracy
