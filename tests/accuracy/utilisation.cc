#include "tests/accuracy/utilisation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "ccid/common/tfrc_equation.h"
#include "stack/lab/pair_lab.h"
#include "stack/lab/statistics.h"
#include "stack/lab/ticker.h"
#include "tests/accuracy/queues.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {

UtilisationFigures MeasureUtilisation(const UtilisationSetting& setting, std::uint64_t seed) {
  // Delays up to 2 % longer, so that runs differ.
  SeededRandom random(seed);
  const auto one_way = Duration(static_cast<Duration::rep>(
      static_cast<double>(setting.rtt.count()) / 2 * (1 + 0.02 * random.Uniform())));
  lab::PairLabConfig config;
  config.seed = seed;
  config.forward = BottleneckOf(setting.rate_bps, setting.rtt, setting.queue);
  config.forward.delay = config.reverse.delay = one_way;
  config.flow.ccid = setting.ccid;
  config.flow.options.send_queue_datagrams = 1024;
  lab::PairLab lab(config);
  UtilisationFigures figures;
  if (!lab.Open()) return figures;
  lab.Run(setting.start_up);
  std::vector<double> queue;
  lab::Ticker ticker(lab.simulator(), setting.measured / 5000, [&] {
    queue.push_back(static_cast<double>(lab.forward().model().queued_packets(lab.now())));
  });
  ticker.Start();
  const LinkCounters before = lab.forward().counters();
  lab.Run(setting.measured);
  const LinkCounters& after = lab.forward().counters();
  figures.used = static_cast<double>(after.delivered_bytes - before.delivered_bytes) * 8 /
                 static_cast<double>(setting.rate_bps) /
                 std::chrono::duration<double>(setting.measured).count();
  figures.dropped = static_cast<double>(after.queue_drops - before.queue_drops);
  figures.loss_share = figures.dropped / static_cast<double>(after.offered - before.offered);
  figures.marked = static_cast<double>(after.marked - before.marked);
  figures.queue_packets = lab::EstimateOf(queue).mean;
  const auto peak = queue.begin() + static_cast<std::ptrdiff_t>(queue.size() * 19 / 20);
  std::nth_element(queue.begin(), peak, queue.end());
  figures.queue_peaks = *peak;
  return figures;
}

namespace {

struct PathRow {
  std::uint64_t mbps;
  int rtt_ms;
};

std::string Name(CcidId ccid, const PathRow& path) {
  std::array<char, 80> text;
  const double product =
      ProductPackets(path.mbps * 1'000'000, std::chrono::milliseconds(path.rtt_ms));
  std::snprintf(text.data(), text.size(), "%s, %u Mbit/s, %d ms (%.3g packets)",
                ccid == CcidId::k2 ? "CCID 2" : "CCID 3", static_cast<unsigned>(path.mbps),
                path.rtt_ms, product);
  return text.data();
}

double CostOf(const UtilisationSetting& setting) {
  return static_cast<double>(setting.rate_bps) / 12000 *
         std::chrono::duration<double>(setting.start_up + setting.measured).count();
}

// The largest product, in packets, that Data Length can express: the equation's window for a loss
// event in 2^24 - 1 packets.
double ExpressibleProduct() {
  constexpr double kLongest = (1 << 24) - 1;
  return TfrcThroughput(1, std::chrono::seconds(1), 1 / kLongest);
}

// What is wanted of a path, by its product.
lab::Measure UsedMeasure(CcidId ccid, double product) {
  if (ccid == CcidId::k2 || product < 1000) return {.name = "used", .least = 0.95};
  if (product <= ExpressibleProduct()) return {.name = "used", .least = 0.85};
  std::array<char, 80> text;
  std::snprintf(text.data(), text.size(), "used (24 bits express %.0f packets)",
                ExpressibleProduct());
  return {.name = text.data()};
}

lab::Cell DropTailCell(CcidId ccid, const PathRow& path) {
  UtilisationSetting setting;
  setting.ccid = ccid;
  setting.rate_bps = path.mbps * 1'000'000;
  setting.rtt = std::chrono::milliseconds(path.rtt_ms);
  std::size_t seeds = 20;
  if (path.mbps == 1000) {
    // A run takes millions of packets, and one is much like another.
    setting.start_up = std::chrono::seconds(20);
    setting.measured = std::chrono::seconds(40);
    seeds = 5;
  }
  return {.section = "utilisation",
          .name = Name(ccid, path),
          .measures = {UsedMeasure(ccid, ProductPackets(setting.rate_bps, setting.rtt)),
                       {.name = "lost share"},
                       {.name = "queue, packets"}},
          .seeds = seeds,
          .cost = CostOf(setting),
          .run = [setting](std::uint64_t seed) {
            const UtilisationFigures f = MeasureUtilisation(setting, seed);
            return std::vector<double>{f.used, f.loss_share, f.queue_packets};
          }};
}

lab::Cell RedCell(CcidId ccid, const PathRow& path) {
  UtilisationSetting setting;
  setting.ccid = ccid;
  setting.rate_bps = path.mbps * 1'000'000;
  setting.rtt = std::chrono::milliseconds(path.rtt_ms);
  setting.queue = Queue::kRed;
  const RedConfig red = *BottleneckOf(setting.rate_bps, setting.rtt, Queue::kRed).red;
  return {.section = "utilisation",
          .name = Name(ccid, path) + ", RED and ECN",
          .measures = {{.name = "used"},
                       {.name = "packets lost", .most = 0, .over = lab::Measure::Over::kEachRun},
                       {.name = "packets marked", .least = 1},
                       {.name = "queue, packets"},
                       {.name = "queue exceeded for a twentieth of the time",
                        .least = red.min_packets / 2,
                        .most = red.max_packets},
                       {.name = "lower threshold"},
                       {.name = "upper threshold"}},
          .seeds = 20,
          .cost = CostOf(setting),
          .run = [setting, red](std::uint64_t seed) {
            const UtilisationFigures f = MeasureUtilisation(setting, seed);
            return std::vector<double>{f.used,          f.dropped,     f.marked,
                                       f.queue_packets, f.queue_peaks, red.min_packets,
                                       red.max_packets};
          }};
}

}  // namespace

std::vector<lab::Cell> UtilisationCells() {
  std::vector<lab::Cell> cells;
  for (const CcidId ccid : {CcidId::k2, CcidId::k3}) {
    for (const std::uint64_t mbps : {1u, 10u, 100u, 1000u}) {
      for (const int rtt_ms : {1, 20, 100}) cells.push_back(DropTailCell(ccid, {mbps, rtt_ms}));
    }
    for (const PathRow& path : {PathRow{10, 20}, PathRow{10, 100}, PathRow{100, 20}})
      cells.push_back(RedCell(ccid, path));
  }
  return cells;
}

}  // namespace dccp::accuracy
