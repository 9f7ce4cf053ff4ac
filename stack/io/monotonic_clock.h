// The real clock behind TimePoint: CLOCK_MONOTONIC, the one that timerfd takes.
#pragma once

#include "dccp/time.h"

namespace dccp {

class MonotonicClock {
 public:
  static TimePoint Now();
};

}  // namespace dccp
