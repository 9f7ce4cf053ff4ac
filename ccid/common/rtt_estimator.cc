#include "ccid/common/rtt_estimator.h"

#include <algorithm>
#include <cstdint>

namespace dccp {

void RttEstimator::OnSample(Duration sample) {
  // A peer's exaggerated Elapsed Time must not produce a round trip of nothing.
  const Duration r = std::max<Duration>(sample, std::chrono::microseconds(1));
  if (!has_sample()) {
    srtt_ = r;
    rttvar_ = r / 2;
    min_rtt_ = r;
  } else {
    const Duration deviation = srtt_ > r ? srtt_ - r : r - srtt_;
    rttvar_ += (deviation - rttvar_) / 4;
    srtt_ += (r - srtt_) / 8;
    min_rtt_ = std::min(min_rtt_, r);
  }
  back_off_ = 0;
}

Duration RttEstimator::rto() const {
  const Duration base =
      has_sample() ? srtt_ + std::max(limits_.variance_floor, 4 * rttvar_) : limits_.initial_rto;
  // Capped before the shift as well, so that it cannot overflow.
  return std::min(std::min(base, limits_.max_rto) * (std::int64_t{1} << back_off_),
                  limits_.max_rto);
}

}  // namespace dccp
