// A limit of events per interval, for the packets that a stranger can provoke.
#pragma once

#include <cstdint>

#include "dccp/time.h"
#include "stack/base/check.h"

namespace dccp {

// A token bucket in exact integer time: in the long run `count` events per `interval`, and at most
// `burst` at one moment, so never more than burst + count in any interval. RFC 4340 §7.5.4, §8.1.3
class TokenBucket {
 public:
  TokenBucket(std::uint32_t count, Duration interval, std::uint32_t burst) {
    DCCP_CHECK(count > 0 && burst > 0 && interval > Duration::zero());
    spacing_ = interval / count;
    tolerance_ = spacing_ * (burst - 1);
  }

  // True, and one token spent, when the limit allows an event now.
  bool Take(TimePoint now) {
    const TimePoint due = Later(due_, now);
    if (due - now > tolerance_) return false;
    due_ = due + spacing_;
    return true;
  }

 private:
  Duration spacing_;    // between two tokens
  Duration tolerance_;  // how far ahead of now the bucket may be drawn
  // Each event moves this on by `spacing_`; by as much as it is ahead of now, tokens are missing.
  TimePoint due_ = TimePoint::min();
};

}  // namespace dccp
