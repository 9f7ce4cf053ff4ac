// When to ask the peer for an acknowledgement of our acknowledgements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "dccp/time.h"

namespace dccp {

// An Ack Vector that is not acknowledged grows until it fits no packet. A peer that has not
// acknowledged one of kLongBytes is asked to by a Sync, whose SyncAck may carry that
// acknowledgement; a peer that does not answer so is asked ever less often. RFC 4340 §11.1, §11.2
class AckElicitor {
 public:
  // Half of what an acknowledgement has room for: there is time for several attempts.
  static constexpr std::size_t kLongBytes = 512;
  static constexpr Duration kShortest = std::chrono::milliseconds(100);
  static constexpr Duration kLongest = std::chrono::seconds(10);

  // An acknowledgement leaves whose Ack Vector takes `vector_bytes`. True: send a Sync now.
  bool Due(std::size_t vector_bytes, TimePoint now, Duration rtt) {
    if (vector_bytes < kLongBytes) return false;
    interval_ = std::max<Duration>(interval_, std::max<Duration>(2 * rtt, kShortest));
    if (asked_at_) {
      if (now - *asked_at_ < interval_) return false;
      interval_ = std::min<Duration>(2 * interval_, kLongest);
    }
    asked_at_ = now;
    return true;
  }
  void OnAckOfAck() { interval_ = Duration::zero(); }

 private:
  std::optional<TimePoint> asked_at_;
  Duration interval_ = Duration::zero();  // from one attempt to the next
};

}  // namespace dccp
