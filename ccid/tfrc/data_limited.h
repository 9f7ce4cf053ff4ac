// Did the application keep the sender busy? RFC 5348 §8.2.1
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "dccp/time.h"

namespace dccp::tfrc {

// A value: remembers when the sender had sent all that it was allowed to, for some two round trips,
// and tells for each feedback whether such a moment lies in the round trip that it covers. The
// heuristic of §8.2.1 keeps two moments and says that more would be more accurate: here they are
// spans, which become one where less than an eighth of a round trip lies between them.
class DataLimited {
 public:
  // All that is allowed has been sent, and the application has more.
  void OnUsedUp(TimePoint now) {
    if (count_ > 0 && now - Newest().last <= gap_) {
      Newest().last = now;
      return;
    }
    ++count_;
    Newest() = {now, now};
  }

  // A feedback about the packet that was sent at `sent`; TimePoint::min(): nobody knows when. True:
  // the sender was data-limited over the entire interval that it covers.
  bool OnFeedback(TimePoint sent, Duration rtt) {
    gap_ = rtt / 8;
    const TimePoint begin = sent == TimePoint::min() ? sent : sent - rtt;
    const std::size_t held = std::min(count_, kHeld);
    return std::none_of(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(held),
                        [&](const Span& s) { return s.last > begin && s.first <= sent; });
  }

 private:
  struct Span {
    TimePoint first;
    TimePoint last;
  };
  static constexpr std::size_t kHeld = 16;

  Span& Newest() { return spans_[(count_ - 1) % kHeld]; }

  std::array<Span, kHeld> spans_ = {};  // a ring
  std::size_t count_ = 0;
  Duration gap_ = Duration::max();  // without feedback it is all one
};

}  // namespace dccp::tfrc
