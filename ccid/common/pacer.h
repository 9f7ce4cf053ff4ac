// Spreads packets over time. RFC 4341 §5 (rate-based pacing)
#pragma once

#include <cstdint>

#include "dccp/time.h"

namespace dccp {

// A value. One packet is earned every `interval`; packets are released in quanta worth about
// kQuantum of time, because a wake-up and a system call for each packet of a fast flow would cost
// more than the packet. Time that passes unused earns at most one quantum.
class Pacer {
 public:
  static constexpr Duration kQuantum = std::chrono::milliseconds(1);
  static constexpr std::int64_t kMaxQuantumPackets = 64;

  struct Release {
    std::uint32_t packets = 0;  // how many may leave now
    TimePoint at = kNever;      // when to ask again, if none may
  };

  // `interval` zero: no pacing.
  Release Ask(TimePoint now, Duration interval) const;
  void OnSent(std::uint32_t packets, TimePoint now, Duration interval);
  void Reset() { *this = Pacer(); }

 private:
  static std::int64_t QuantumPackets(Duration interval);
  // The time of the next packet, no further in the past than one quantum.
  TimePoint Clip(TimePoint now, Duration interval) const;

  TimePoint next_ = TimePoint::min();  // when the next packet is earned
  bool in_quantum_ = false;            // part of a released quantum is left
};

}  // namespace dccp
