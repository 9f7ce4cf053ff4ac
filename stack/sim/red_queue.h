// Random Early Detection.
#pragma once

#include <cstdint>

#include "dccp/time.h"
#include "stack/sim/seeded_random.h"

namespace dccp {

struct RedConfig {
  double min_packets = 5;   // average queue below which nothing happens
  double max_packets = 15;  // average queue at which the probability is max_probability
  double max_probability = 0.1;
  double weight = 0.002;  // of the newest sample in the average
  bool mark = true;       // mark packets that are ECN-capable rather than drop them
};

// The decision of RED for each arriving packet, from the averaged queue length; between max and
// twice max the probability rises to 1 ("gentle"). It keeps no packets. S. Floyd, V. Jacobson,
// "Random Early Detection Gateways for Congestion Avoidance", 1993
class RedQueue {
 public:
  explicit RedQueue(const RedConfig& config) : config_(config) {}

  // A packet arrives at a queue of `packets`. `idle_packets`: how many packets the link could have
  // sent since the queue became empty, 0 if it is not. True: drop or mark it.
  bool Strikes(std::uint64_t packets, double idle_packets, SeededRandom& random);
  double average_packets() const { return average_; }

 private:
  RedConfig config_;
  double average_ = 0;
  std::int64_t since_strike_ = -1;  // packets since the last strike, -1 below min_packets
};

}  // namespace dccp
