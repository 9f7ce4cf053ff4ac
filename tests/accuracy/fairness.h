// Flows that share a bottleneck.
#pragma once

#include <cstdint>
#include <vector>

#include "dccp/time.h"
#include "stack/lab/bottleneck_lab.h"

namespace dccp::accuracy {

enum class Queue : std::uint8_t { kDropTail, kRed };

struct FairnessSetting {
  std::vector<lab::FlowKind> flows;
  Queue queue = Queue::kDropTail;
  std::uint64_t rate_bps = 4'000'000;
  Duration rtt = std::chrono::milliseconds(50);
  Duration duration = std::chrono::seconds(250);  // measured, after a quarter of it
};
// The mean rates of the flows by an equal share of the bottleneck.
std::vector<double> MeasureShares(const FairnessSetting& setting, std::uint64_t seed);

}  // namespace dccp::accuracy
