// Round-trip time, its variation, and the timeout derived from them. RFC 6298
#pragma once

#include <algorithm>

#include "dccp/time.h"

namespace dccp {

// A value. Samples in; SRTT, RTTVAR and RTO out, with the arithmetic of RFC 6298 §2 and the
// back-off of §5.5: BackOff() doubles the RTO, the next sample ends the doubling. The caller
// decides which measurements are samples (in CCID 2 at most one a window of data).
class RttEstimator {
 public:
  struct Limits {
    Duration variance_floor = Duration::zero();      // G of RFC 6298: RTO = SRTT + max(G, 4 RTTVAR)
    Duration initial_rto = std::chrono::seconds(1);  // before the first sample. RFC 6298 §2.1
    Duration max_rto = std::chrono::seconds(64);
  };

  RttEstimator() = default;
  explicit RttEstimator(const Limits& limits) : limits_(limits) {}

  void OnSample(Duration sample);
  void BackOff() { back_off_ = std::min(back_off_ + 1, kMaxBackOff); }

  // Forgets the path, keeps the limits.
  void Reset() { *this = RttEstimator(limits_); }

  bool has_sample() const { return srtt_ != Duration::zero(); }
  Duration srtt() const { return srtt_; }
  Duration rttvar() const { return rttvar_; }
  Duration min_rtt() const { return min_rtt_; }
  // SRTT, or the RFC's default while there is none. RFC 4340 §3.4
  Duration srtt_or_default() const { return has_sample() ? srtt_ : kDefaultRtt; }

  Duration rto() const;

 private:
  static constexpr int kMaxBackOff = 16;

  Limits limits_;
  Duration srtt_ = Duration::zero();
  Duration rttvar_ = Duration::zero();
  Duration min_rtt_ = Duration::zero();
  int back_off_ = 0;
};

}  // namespace dccp
