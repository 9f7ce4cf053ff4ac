// Time as an argument: the core reads no clock, every call that needs the time takes a TimePoint.
#pragma once

#include <chrono>
#include <cstdint>

namespace dccp {

// A tag clock: it has no now(). A driver chooses the origin (CLOCK_MONOTONIC, or virtual time in a
// simulation) and never lets it run backwards.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock, duration>;
  static constexpr bool is_steady = true;  // NOLINT(readability-identifier-naming)
};

using Duration = Clock::duration;
using TimePoint = Clock::time_point;

// "No deadline."
inline constexpr TimePoint kNever = TimePoint::max();

// Default round-trip time where no estimate exists. RFC 4340 §3.4
inline constexpr Duration kDefaultRtt = std::chrono::milliseconds(200);

// Maximum segment lifetime. RFC 4340 §3.4
inline constexpr Duration kMsl = std::chrono::minutes(2);

constexpr TimePoint Earlier(TimePoint a, TimePoint b) { return a < b ? a : b; }
constexpr TimePoint Later(TimePoint a, TimePoint b) { return a < b ? b : a; }

}  // namespace dccp
