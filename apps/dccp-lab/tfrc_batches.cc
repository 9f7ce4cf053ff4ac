#include "apps/dccp-lab/tfrc_batches.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include "apps/dccp-lab/host_cpu.h"

namespace dccp::apps::lab {

namespace {

// Above that, packets wait for a processor now and then, and round trips grow.
constexpr double kUsableShare = 0.75;
// However busy others are, the lab gets its share.
constexpr double kLeastIdle = 0.4;

}  // namespace

std::vector<std::vector<TfrcJob>> Batches(std::span<const TfrcJob> jobs,
                                          std::span<const TfrcCell> cells,
                                          double packets_per_second, std::size_t most) {
  const auto load = [&](const TfrcJob& job) { return cells[job.cell].EquationPackets(); };
  double total = 0;
  for (const TfrcJob& job : jobs) total += load(job);
  const double count = std::max(1.0, std::ceil(total / packets_per_second));
  const double share = total / count;
  std::vector<std::vector<TfrcJob>> batches;
  double sum = 0;
  for (const TfrcJob& job : jobs) {
    // Begins the next batch where that is nearer to an equal share.
    const double end = share * static_cast<double>(batches.size());
    const bool full = !batches.empty() && most != 0 && batches.back().size() >= most;
    if (batches.empty() || full || sum + load(job) / 2 > end) batches.emplace_back();
    batches.back().push_back(job);
    sum += load(job);
  }
  return batches;
}

double PacketsThatFit(double us_per_packet, bool first) {
  const double idle = first ? 1 : std::max(kLeastIdle, 1 - BusyPercent() / 100);
  const auto cores = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  return cores * idle * kUsableShare * 1e6 / us_per_packet;
}

}  // namespace dccp::apps::lab
