// Which runs go at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/dccp-lab/tfrc_plan.h"

namespace dccp::apps::lab {

// One run of a cell that is still to be done.
struct TfrcJob {
  std::size_t cell = 0;
  std::size_t repeat = 0;
};

// The jobs cut into batches of about the same load, as few as keep each below `packets_per_second`
// by the equation, and at most `most` jobs (0: any number). At least one job each.
std::vector<std::vector<TfrcJob>> Batches(std::span<const TfrcJob> jobs,
                                          std::span<const TfrcCell> cells,
                                          double packets_per_second, std::size_t most);

// What the host can carry, by its cores and how idle they are now; `first`: the lab's programs come
// before all others, however busy it is. `us_per_packet`: processor time of all of them together
// for a data packet. Takes up to 0.3 s.
double PacketsThatFit(double us_per_packet, bool first);

}  // namespace dccp::apps::lab
