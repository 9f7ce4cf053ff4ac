// Keeps Sequence Window ahead of the congestion window. RFC 4340 §7.5.2
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "dccp/time.h"

namespace dccp {

// A value. Sequence Window/A shall be about five times the packets of a round trip; it is asked for
// in powers of two and at most once a round trip, early enough that the window need not wait for
// the answer; what is not confirmed within kPatience round trips is asked for again. Until the peer
// confirms, the old value limits the window. It is never lowered: a wide
// window costs nothing but a larger target for blind attacks, and lowering it during a loss burst
// could put the endpoints out of step.
class SequenceWindowControl {
 public:
  static constexpr int kPatience = 4;
  static constexpr std::uint64_t kMax = (std::uint64_t{1} << 46) - 1;

  explicit SequenceWindowControl(std::uint64_t current) : current_(current), asked_(current) {}

  std::uint64_t current() const { return current_; }

  // The most packets that may be in flight. The peer accepts sequence numbers up to three quarters
  // of Sequence Window past the greatest it has seen: a larger flight could, lost in one burst,
  // leave the next packet outside. The RFC rounds them up, but Linux down.
  std::uint32_t FlightLimit() const {
    const std::uint64_t limit = std::max<std::uint64_t>(current_ / 4 * 3 + current_ % 4 * 3 / 4, 1);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limit, std::numeric_limits<std::uint32_t>::max()));
  }

  void OnFeature(std::uint64_t value) { current_ = asked_ = value; }

  // The value to ask the peer for now, given the packets sent in a round trip.
  std::optional<std::uint64_t> Request(std::uint64_t packets_per_rtt, TimePoint now, Duration rtt) {
    constexpr std::uint64_t kRoundTrips = 5;
    const std::uint64_t need = std::min(packets_per_rtt, kMax / kRoundTrips) * kRoundTrips;
    if (need <= current_ || (asked_at_ && now - *asked_at_ < rtt)) return std::nullopt;
    if (need <= asked_ && now - *asked_at_ < kPatience * rtt) return std::nullopt;
    asked_ = std::min(std::bit_ceil(need), kMax);
    asked_at_ = now;
    return asked_;
  }

 private:
  std::uint64_t current_;
  std::uint64_t asked_;
  std::optional<TimePoint> asked_at_;
};

}  // namespace dccp
