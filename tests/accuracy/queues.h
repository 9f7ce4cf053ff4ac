// The queues of a bottleneck.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stack/sim/path_model.h"
#include "tests/accuracy/fairness.h"

namespace dccp::accuracy {

// Packets of a bandwidth-delay product, as few as one or less.
inline double ProductPackets(std::uint64_t rate_bps, Duration rtt) {
  constexpr double kPacketBits = 1480 * 8;
  return static_cast<double>(rate_bps) * std::chrono::duration<double>(rtt).count() / kPacketBits;
}

// Drop-tail: one bandwidth-delay product, at least ten packets. RED: twice as long a queue, and
// thresholds at an eighth and a half of the product, at least 5 and 15 packets. Without a delay.
inline PathConfig BottleneckOf(std::uint64_t rate_bps, Duration rtt, Queue queue) {
  const double product = std::max(ProductPackets(rate_bps, rtt), 10.0);
  PathConfig config;
  config.rate_bps = rate_bps;
  config.queue_packets = static_cast<std::uint64_t>(std::ceil(product));
  if (queue == Queue::kRed) {
    RedConfig red;
    red.min_packets = std::max(product / 8, 5.0);
    red.max_packets = std::max(product / 2, 15.0);
    config.red = red;
    config.queue_packets = 2 * std::max<std::uint64_t>(config.queue_packets, 30);
  }
  return config;
}

}  // namespace dccp::accuracy
