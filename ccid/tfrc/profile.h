// What tells the variants of TFRC apart. RFC 5348, RFC 4828
#pragma once

#include <cstdint>

#include "dccp/time.h"

namespace dccp::tfrc {

// A value; by default plain TFRC. The small-packet variant counts a flow's bytes as if they came in
// large packets, and has to guard against what that would allow: many small packets under heavy
// loss. RFC 4828 §3
struct Profile {
  // s of the throughput equation in bytes, where the path carries as much; 0: the mean payload.
  double nominal_bytes = 0;
  // H: headers of a packet, which count towards the allowed rate.
  double header_bytes = 0;
  // No two data packets are closer than this. Unused time is then no danger as a burst.
  Duration min_interval = Duration::zero();
  // Loss intervals of at most two round trips count by their lost packets.
  bool short_intervals = false;
};

// A loss interval is short while no more window counters, quarters of a round trip, lie between its
// begin and its end. RFC 5622 §8.4
inline constexpr std::uint64_t kShortIntervalCounters = 8;

}  // namespace dccp::tfrc
