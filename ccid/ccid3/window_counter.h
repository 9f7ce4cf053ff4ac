// The window counter that a sender puts into CCVal. RFC 4342 §8.1
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dccp/seqno.h"
#include "dccp/time.h"

namespace dccp::ccid3 {

// A value: counts quarters of a round trip, unwrapped, at most five from one data packet to the
// next, and remembers which packets got which value for some sixteen round trips.
class WindowCounter {
 public:
  static constexpr std::uint64_t kMaxStep = 5;
  static constexpr std::uint64_t kPerRtt = 4;

  // The value of data packet `seq`, which is about to leave.
  std::uint64_t Next(Seq64 seq, TimePoint now, Duration rtt) {
    if (count_ == 0) {
      Remember(seq, 0, now);
      return 0;
    }
    const Duration quarter = std::max<Duration>(rtt / 4, Duration(1));
    const auto quarters = static_cast<std::uint64_t>((now - since_) / quarter);
    const std::uint64_t by_time = value_ + std::min(quarters, kMaxStep);
    const std::uint64_t next = std::min(std::max(by_time, least_), value_ + kMaxStep);
    if (next != value_) Remember(seq, next, now);
    return value_;
  }

  // The peer acknowledged `seq`: what is sent from here on is a round trip later.
  void OnAcked(Seq64 seq) {
    if (count_ == 0) return;
    least_ = std::max(least_, Of(seq) + kPerRtt);
  }

  // The value that `seq` was sent with, or would have been. The oldest known for older packets.
  std::uint64_t Of(Seq64 seq) const {
    const std::size_t held = std::min(count_, kHeld);
    for (std::size_t age = 0; age < held; ++age) {
      const Step& step = steps_[(count_ - 1 - age) % kHeld];
      if (step.first <= seq) return step.value;
    }
    return held == 0 ? 0 : steps_[(count_ - held) % kHeld].value;
  }

 private:
  struct Step {
    Seq64 first;
    std::uint64_t value = 0;
  };
  static constexpr std::size_t kHeld = 64;

  void Remember(Seq64 seq, std::uint64_t value, TimePoint now) {
    value_ = value;
    since_ = now;
    steps_[count_ % kHeld] = {seq, value};
    ++count_;
  }

  std::uint64_t value_ = 0;  // last_WC
  TimePoint since_;          // last_WC_time
  std::uint64_t least_ = 0;
  std::array<Step, kHeld> steps_ = {};  // a ring
  std::size_t count_ = 0;               // steps ever
};

}  // namespace dccp::ccid3
