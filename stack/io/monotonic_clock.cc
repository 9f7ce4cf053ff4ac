#include "stack/io/monotonic_clock.h"

#include <ctime>

namespace dccp {

TimePoint MonotonicClock::Now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace dccp
