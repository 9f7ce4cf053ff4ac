// Did the application keep the sender busy? RFC 5348 §8.2.1
#pragma once

#include "dccp/time.h"

namespace dccp::tfrc {

// The heuristic of §8.2.1, a value: remembers two moments at which the sender had sent all that it
// was allowed to, and tells for each feedback whether one lies in the round trip that it covers.
class DataLimited {
 public:
  // All that is allowed has been sent, and the application has more.
  void OnUsedUp(TimePoint now) {
    if (not_limited1_ <= t_new_) {
      not_limited1_ = now;
    } else if (not_limited2_ <= t_next_) {
      not_limited2_ = now;
    }
  }

  // A feedback about the packet that was sent at `sent`; TimePoint::min(): nobody knows when. True:
  // the sender was data-limited over the entire interval that it covers.
  bool OnFeedback(TimePoint sent, TimePoint now, Duration rtt) {
    t_new_ = sent;
    t_next_ = now;
    const TimePoint t_old = sent == TimePoint::min() ? sent : sent - rtt;
    const auto covered = [&](TimePoint t) { return t_old < t && t <= t_new_; };
    const bool limited = !covered(not_limited1_) && !covered(not_limited2_);
    if (not_limited1_ <= t_new_ && not_limited2_ > t_new_) not_limited1_ = not_limited2_;
    return limited;
  }

 private:
  TimePoint not_limited1_ = TimePoint::min();
  TimePoint not_limited2_ = TimePoint::min();
  TimePoint t_new_ = TimePoint::min();
  TimePoint t_next_ = TimePoint::min();
};

}  // namespace dccp::tfrc
