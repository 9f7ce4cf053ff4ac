// The kernel's time of arrival on the loop's clock.
#pragma once

#include <time.h>

#include <optional>

#include "dccp/time.h"
#include "stack/io/monotonic_clock.h"

namespace dccp::apps::netem {

// The kernel stamps packets by the time of day. Read both clocks once for each batch; a stamp of
// more than a second ago, or of the future, tells that the time of day was set, and counts as now.
class ArrivalClock {
 public:
  void Read() {
    timespec real = {};
    ::clock_gettime(CLOCK_REALTIME, &real);
    now_ = MonotonicClock::Now();
    real_now_ = std::chrono::seconds(real.tv_sec) + Duration(real.tv_nsec);
  }
  TimePoint now() const { return now_; }
  TimePoint Of(std::optional<Duration> stamp) const {
    if (!stamp) return now_;
    const Duration age = real_now_ - *stamp;
    return age < Duration::zero() || age > kMaxAge ? now_ : now_ - age;
  }

 private:
  static constexpr Duration kMaxAge = std::chrono::seconds(1);

  TimePoint now_;
  Duration real_now_ = Duration::zero();
};

}  // namespace dccp::apps::netem
