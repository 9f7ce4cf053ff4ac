// TFRC calculates in seconds and bytes a second; everything around it in Duration.
#pragma once

#include <chrono>

#include "dccp/time.h"

namespace dccp::tfrc {

// The longest time between two packets that TFRC knows: the maximum back-off. RFC 5348 §4.3
inline constexpr double kMaxBackOffSeconds = 64;

// A round trip is never taken as less: everything divides by it.
inline constexpr Duration kMinRtt = std::chrono::microseconds(1);

constexpr double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

// Saturates at about three years, so that a sum with a point in time cannot overflow; what is
// negative or no number is zero.
constexpr Duration FromSeconds(double seconds) {
  constexpr double kMost = 1e8;
  if (!(seconds > 0)) return Duration::zero();
  return Duration(static_cast<Duration::rep>((seconds < kMost ? seconds : kMost) * 1e9));
}

}  // namespace dccp::tfrc
