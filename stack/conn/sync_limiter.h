// How often Syncs may answer invalid packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dccp/time.h"

namespace dccp {

// At most kPerSecond Syncs in any second, however many invalid packets arrive. RFC 4340 §7.5.4
class SyncLimiter {
 public:
  static constexpr std::size_t kPerSecond = 8;

  // True: a Sync may be sent now, and is counted.
  bool Allow(TimePoint now) {
    TimePoint& oldest = sent_[next_];
    if (used_ == kPerSecond && now - oldest < std::chrono::seconds(1)) {
      ++suppressed_;
      return false;
    }
    oldest = now;
    next_ = (next_ + 1) % kPerSecond;
    if (used_ < kPerSecond) ++used_;
    return true;
  }
  // The same for a Sync that can wait: half of them are left to those that cannot.
  bool AllowSpare(TimePoint now) {
    constexpr std::size_t kSpare = kPerSecond / 2;
    const TimePoint& earlier = sent_[(next_ + kPerSecond - kSpare) % kPerSecond];
    if (used_ >= kSpare && now - earlier < std::chrono::seconds(1)) return false;
    return Allow(now);
  }
  std::uint64_t suppressed() const { return suppressed_; }

 private:
  std::array<TimePoint, kPerSecond> sent_ = {};
  std::size_t next_ = 0;
  std::size_t used_ = 0;
  std::uint64_t suppressed_ = 0;
};

}  // namespace dccp
