#include "tests/accuracy/smoothness.h"

#include <array>
#include <string>

#include "stack/lab/pair_lab.h"
#include "stack/lab/rate_bins.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {

SmoothnessFigures MeasureSmoothness(CcidId ccid, Duration rtt, double loss, Duration duration,
                                    std::uint64_t seed) {
  lab::PairLabConfig config;
  config.seed = seed;
  config.forward = {.delay = rtt / 2, .loss = loss};
  config.reverse = {.delay = rtt / 2};
  config.flow.ccid = ccid;
  lab::PairLab lab(config);
  if (!lab.Open()) return {};
  lab.Run(duration / 9);
  lab::RateBins bins(lab.simulator(), rtt, [&] { return lab.flow().sent_bytes(); });
  bins.Start();
  lab.Run(duration);
  return {bins.Variation(), bins.LargestStep()};
}

std::vector<lab::Cell> SmoothnessCells() {
  std::vector<lab::Cell> cells;
  for (const int rtt_ms : {40, 150}) {
    // A loss event comes every nine round trips or so: more than five hundred.
    const Duration rtt = std::chrono::milliseconds(rtt_ms);
    const Duration duration = 6000 * rtt;
    cells.push_back({.section = "smoothness",
                     .name = std::to_string(rtt_ms) + " ms, 1 %",
                     .measures = {{.name = "variation of CCID 3"},
                                  {.name = "variation of CCID 2"},
                                  {.name = "CCID 3 / CCID 2", .most = 0.7},
                                  {.name = "largest step of CCID 3"},
                                  {.name = "largest step of CCID 2"}},
                     .seeds = 20,
                     .cost = 6000 * 25,
                     .run = [rtt, duration](std::uint64_t seed) {
                       const SmoothnessFigures three =
                           MeasureSmoothness(CcidId::k3, rtt, 0.01, duration, seed);
                       const SmoothnessFigures two =
                           MeasureSmoothness(CcidId::k2, rtt, 0.01, duration, seed);
                       return std::vector<double>{three.variation, two.variation,
                                                  three.variation / two.variation,
                                                  three.largest_step, two.largest_step};
                     }});
  }
  return cells;
}

}  // namespace dccp::accuracy
