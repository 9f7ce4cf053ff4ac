// When 24-bit sequence numbers are safe.
#pragma once

#include <cstdint>

#include "dccp/time.h"

namespace dccp {

// Says whether Data, Ack and DataAck may leave with short numbers, which is never more than
// allowed: long ones are always right. Two things make short ones unsafe. They are guessed 2^24
// times as easily, and a window of W makes that W times easier still. And a packet may linger for
// one maximum segment lifetime (MSL), so numbers must not come round within two, which they do
// above 2^24 / (2 MSL) packets a second, 69,905 of them: after a second as fast as that, in either
// direction, numbers are long until a second has passed that was slower. Owns no timer and reads no
// clock. RFC 4340 §7.5.5, §7.6.2
class ShortSeqnoPolicy {
 public:
  static constexpr std::uint64_t kLargestWindow = 1u << 14;

  explicit ShortSeqnoPolicy(Duration msl) : limit_(PacketsPerSecond(msl)) {}

  void OnSent(TimePoint now) { sent_.Count(now, limit_); }
  void OnReceived(TimePoint now) { received_.Count(now, limit_); }

  bool Allows(std::uint64_t local_window, std::uint64_t remote_window) const {
    return local_window <= kLargestWindow && remote_window <= kLargestWindow && !sent_.fast &&
           !received_.fast;
  }
  std::uint64_t limit_packets_per_second() const { return limit_; }

 private:
  struct Meter {
    TimePoint begin;
    std::uint64_t packets = 0;
    bool fast = false;

    void Count(TimePoint now, std::uint64_t limit) {
      if (now - begin >= std::chrono::seconds(1)) {
        fast = packets > limit;
        begin = now;
        packets = 0;
      }
      if (++packets > limit) fast = true;
    }
  };

  static std::uint64_t PacketsPerSecond(Duration msl) {
    constexpr std::int64_t kNumbers = 1 << 24;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(2 * msl).count();
    return static_cast<std::uint64_t>(kNumbers * 1000 / (ms > 0 ? ms : 1));
  }

  std::uint64_t limit_;
  Meter sent_, received_;
};

}  // namespace dccp
