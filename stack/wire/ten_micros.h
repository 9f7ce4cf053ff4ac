// The wire's unit of time: 32 bits of 10 microseconds. RFC 4340 §13
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

#include "dccp/time.h"

namespace dccp {

// A duration (Elapsed Time) or a point on a clock of free origin that wraps every 11.9 hours
// (Timestamp). RFC 4340 §13.1, §13.2
class TenMicros {
 public:
  static constexpr std::chrono::nanoseconds kUnit = std::chrono::microseconds(10);
  static constexpr std::uint32_t kMaxTicks = 0xFFFFFFFFu;  // "more than 42949.67294 seconds"

  constexpr TenMicros() = default;
  constexpr explicit TenMicros(std::uint32_t ticks) : ticks_(ticks) {}

  // Rounds down, since an Elapsed Time is a lower bound; a negative one becomes 0, one too long
  // kMaxTicks. RFC 4340 §13.2
  static constexpr TenMicros FromDuration(Duration d) {
    if (d <= Duration::zero()) return TenMicros();
    const std::int64_t ticks = d / kUnit;
    return ticks >= std::int64_t{kMaxTicks} ? TenMicros(kMaxTicks)
                                            : TenMicros(static_cast<std::uint32_t>(ticks));
  }
  // The time as a Timestamp value: modulo 2^32.
  static constexpr TenMicros TimestampAt(TimePoint t) {
    return TenMicros(static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(t.time_since_epoch().count() / kUnit.count())));
  }

  constexpr std::uint32_t ticks() const { return ticks_; }
  constexpr Duration ToDuration() const { return std::int64_t{ticks_} * kUnit; }
  // What passed between two Timestamp values, modulo 2^32.
  constexpr TenMicros Since(TenMicros earlier) const { return TenMicros(ticks_ - earlier.ticks_); }

  friend constexpr auto operator<=>(TenMicros, TenMicros) = default;

 private:
  std::uint32_t ticks_ = 0;
};

}  // namespace dccp
