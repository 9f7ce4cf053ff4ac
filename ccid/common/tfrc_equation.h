// The TCP throughput equation and its inverse. RFC 5348 §3.1, §6.3.1
#pragma once

#include "dccp/time.h"

namespace dccp {

// Bytes a second that a TCP with segments of `segment_bytes` would send over a path with round
// trip `rtt` and loss event rate `p`, with the values that the RFC fixes: b = 1 and t_RTO = 4 R.
// Infinite without loss or without a round trip; `p` above 1 counts as 1.
double TfrcThroughput(double segment_bytes, Duration rtt, double p);

// The loss event rate at which the equation gives `packets_per_rtt`, exact to a part in a million;
// between 1 and 1e-15, whatever the argument is. RFC 5348 §6.3.1
double TfrcLossEventRate(double packets_per_rtt);

}  // namespace dccp
