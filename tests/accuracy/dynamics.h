// What a flow does when something changes: it begins, the loss rate steps, the application pauses.
#pragma once

#include <cstdint>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::accuracy {

// Seconds from the call of Connect until a round trip in which nine tenths of a path of `rate_bps`
// were used, with a queue of one bandwidth-delay product. Infinite: not within 30 s.
double TimeToFill(CcidId ccid, std::uint64_t rate_bps, Duration rtt, std::uint64_t seed);

// Round trips until the mean rate of many flows is within a tenth of its new value.
struct SettlingTimes {
  double worse_rtts = 0;   // after the loss rate rose,
  double better_rtts = 0;  // and after it fell again
};
SettlingTimes MeasureStep(Duration rtt, double low_loss, double high_loss, std::size_t flows,
                          std::uint64_t seed);
// What RFC 5348 predicts: the same for an ideal sender, which has the rate of §3.1 for the loss
// event rate of §5.2 to §5.4 in each round trip, without packets, feedback and timers.
SettlingTimes PredictStep(Duration rtt, double low_loss, double high_loss, std::size_t flows,
                          std::uint64_t seed);

struct SilenceFigures {
  double burst_packets = 0;  // the most that left within a millisecond after the silence
  double allowed_packets = 0;
};
SilenceFigures MeasureSilence(CcidId ccid, Duration silence, std::uint64_t seed);

}  // namespace dccp::accuracy
