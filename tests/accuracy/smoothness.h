// How even the rate of a flow is from one round trip to the next.
#pragma once

#include <cstdint>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::accuracy {

struct SmoothnessFigures {
  double variation = 0;     // of the rate in bins of a round trip
  double largest_step = 0;  // from one bin to the next, in units of the mean
};
SmoothnessFigures MeasureSmoothness(CcidId ccid, Duration rtt, double loss, Duration duration,
                                    std::uint64_t seed);

}  // namespace dccp::accuracy
