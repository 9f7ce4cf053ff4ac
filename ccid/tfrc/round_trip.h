// The sender's round-trip time and the damping of oscillations. RFC 5348 §4.3, §4.5
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "ccid/tfrc/units.h"
#include "dccp/time.h"

namespace dccp::tfrc {

// A value: R, smoothed with q = 0.9, and the ratio by which a rise of the latest sample above its
// long-term mean slows the sender down.
class RoundTrip {
 public:
  void OnSample(Duration sample) {
    constexpr double kQ = 0.9;
    const double s = Seconds(std::max(sample, kMinRtt));
    const double root = std::sqrt(s);
    seconds_ = has_sample() ? kQ * seconds_ + (1 - kQ) * s : s;
    sqmean_ = sqmean_ > 0 ? kQ * sqmean_ + (1 - kQ) * root : root;
    latest_root_ = root;
    latest_ = sample;
    min_ = min_ == Duration::zero() ? sample : std::min(min_, sample);
  }

  bool has_sample() const { return seconds_ > 0; }
  double seconds() const { return seconds_; }
  Duration smoothed() const { return FromSeconds(seconds_); }
  Duration min() const { return min_; }
  // The latest sample was so much longer than the shortest that a queue must be building up. The
  // bounds are those of RFC 9406 §4.2.
  bool queue_builds() const {
    constexpr Duration kLeast = std::chrono::milliseconds(4);
    constexpr Duration kMost = std::chrono::milliseconds(16);
    return has_sample() && latest_ >= min_ + std::clamp<Duration>(min_ / 8, kLeast, kMost);
  }
  // X_inst / X: R_sqmean / sqrt(R_sample). Deviation: bounded above, since §4.5 means to slow a
  // sender down, and where round trips vary by orders of magnitude (within a host they do) a short
  // one would raise the rate by as much as it pleases.
  double damping() const {
    constexpr double kMost = 1.25;
    return sqmean_ > 0 ? std::min(sqmean_ / latest_root_, kMost) : 1;
  }

 private:
  double seconds_ = 0;
  double sqmean_ = 0;
  double latest_root_ = 0;
  Duration latest_ = Duration::zero();
  Duration min_ = Duration::zero();
};

}  // namespace dccp::tfrc
