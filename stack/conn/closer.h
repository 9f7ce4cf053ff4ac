// Ending a connection: who asks, with what, how often. RFC 4340 §8.3
#pragma once

#include <optional>

#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/conn/timer_set.h"

namespace dccp {

// Owns the wish to close and the retransmission of Close and CloseReq (timer kClose); sends
// nothing. The wish waits until the send queue has drained, or for `drain` at most.
class Closer {
 public:
  enum class Action : std::uint8_t { kNothing, kRepeat, kGiveUp };

  explicit Closer(Role role, bool server_timewait)
      : first_packet_(role == Role::kServer && !server_timewait ? PacketType::kCloseReq
                                                                : PacketType::kClose) {}

  // The application wants to close.
  void Request(TimePoint now, Duration drain, TimerSet& timers);
  bool requested() const { return requested_; }
  // True when the time to wait for the send queue is over.
  bool DrainOver(TimePoint now) const { return requested_ && now >= drain_until_; }

  // The type that starts an active close: CloseReq for a server, which leaves TIMEWAIT to its
  // client, unless it was asked to hold it itself; else Close.
  PacketType first_packet() const { return first_packet_; }

  // `type` left for the first time: repeats come after two round trips, then back off to 64 s, and
  // end after `give_up`. A Close that answers a CloseReq starts afresh.
  void Start(PacketType type, TimePoint now, Duration rtt, Duration give_up, TimerSet& timers);
  Action OnTimer(TimePoint now, TimerSet& timers);
  // What is being repeated.
  PacketType type() const { return type_; }

 private:
  // Deviation: §8.3 asks for two round trips before the first repeat. On a path of microseconds
  // that is less than an operating system takes to run the peer, so it is never below this.
  static constexpr Duration kFloor = std::chrono::milliseconds(20);
  static constexpr Duration kCap = std::chrono::seconds(64);

  PacketType first_packet_;
  PacketType type_ = PacketType::kClose;
  bool requested_ = false;
  TimePoint drain_until_ = kNever;
  std::optional<Backoff> backoff_;
  TimePoint give_up_at_ = kNever;
};

}  // namespace dccp
