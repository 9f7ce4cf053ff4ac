// One flow alone on a bottleneck.
#pragma once

#include <cstdint>

#include "dccp/time.h"
#include "dccp/types.h"
#include "tests/accuracy/fairness.h"

namespace dccp::accuracy {

struct UtilisationSetting {
  CcidId ccid = CcidId::k3;
  std::uint64_t rate_bps = 10'000'000;
  Duration rtt = std::chrono::milliseconds(20);
  Queue queue = Queue::kDropTail;
  Duration start_up = std::chrono::seconds(30);  // left out
  Duration measured = std::chrono::seconds(120);
};
struct UtilisationFigures {
  double used = 0;           // of the link's rate, headers included
  double loss_share = 0;     // of the packets that were offered
  double queue_packets = 0;  // mean,
  double queue_peaks = 0;    // and what a twentieth of the time exceeds
  double marked = 0;         // packets
  double dropped = 0;
};
UtilisationFigures MeasureUtilisation(const UtilisationSetting& setting, std::uint64_t seed);

}  // namespace dccp::accuracy
