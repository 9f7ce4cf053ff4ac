// The deadlines of one connection, and back-off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dccp/time.h"

namespace dccp {

// The timers of one connection.
enum class Timer : std::uint8_t {
  kRequest,   // Request retransmission. RFC 4340 §8.1.1
  kPartOpen,  // Ack retransmission in PARTOPEN, and its limit. RFC 4340 §8.1.5
  kRespond,   // a server gives up waiting in RESPOND. RFC 4340 §8.1.3
  kClose,     // Close or CloseReq retransmission. RFC 4340 §8.3
  kFeature,   // Change retransmission. RFC 4340 §6.6.3
  kPacing,    // the CCID said "ask again at"
  kCcidSender,
  kCcidReceiver,
  kUserTimeout,
  kKeepAlive,
  kPathMtu,  // a probe of the path's MTU is due or overdue. RFC 8899 §5.1.1
  kCount,
};

// An array of deadlines indexed by enum with a cached minimum. It fires nothing: the owner asks.
class TimerSet {
 public:
  TimerSet() { deadlines_.fill(kNever); }

  void Set(Timer timer, TimePoint deadline);
  void Cancel(Timer timer) { Set(timer, kNever); }
  void CancelAll();
  // Moves the deadline forward only: whichever is earlier stays.
  void SetEarlier(Timer timer, TimePoint deadline) {
    if (deadline < Get(timer)) Set(timer, deadline);
  }
  TimePoint Get(Timer timer) const { return deadlines_[static_cast<std::size_t>(timer)]; }
  bool IsSet(Timer timer) const { return Get(timer) != kNever; }

  // The earliest deadline; kNever: none is set.
  TimePoint Next() const { return next_; }
  // Takes off the earliest timer that is due at `now`; of equal ones the first by enum.
  std::optional<Timer> PopExpired(TimePoint now);

 private:
  static constexpr std::size_t kTimers = static_cast<std::size_t>(Timer::kCount);

  std::array<TimePoint, kTimers> deadlines_;
  TimePoint next_ = kNever;
};

// Exponential back-off: the first interval, then twice the last, up to a cap. RFC 4340 §8.1.1
class Backoff {
 public:
  constexpr Backoff(Duration first, Duration cap) : first_(first), cap_(cap), next_(first) {}

  // The interval to wait now; the next one will be twice as long.
  constexpr Duration Next() {
    const Duration interval = next_ < cap_ ? next_ : cap_;
    next_ = interval > cap_ / 2 ? cap_ : interval * 2;
    return interval;
  }
  constexpr void Reset() { next_ = first_; }

 private:
  Duration first_;
  Duration cap_;
  Duration next_;
};

}  // namespace dccp
