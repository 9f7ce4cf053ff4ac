// Is the peer still there? RFC 4340 leaves an OPEN connection without data open for ever.
#pragma once

#include "dccp/time.h"

namespace dccp {

// Decides when to probe a silent peer and when to give it up; owns no timer. After half of the user
// timeout without a valid packet a Sync is due: RFC 4340 §7.5.4 has the peer answer it at once, so
// that from then on it owes us a packet whatever it did before. After the whole, and some time
// after the first such Sync, the connection is over (Reset Code 2, "Aborted").
class Liveness {
 public:
  enum class Action : std::uint8_t { kNothing, kProbe, kGiveUp };

  // Zero: off, wait for ever.
  explicit Liveness(Duration user_timeout) : timeout_(user_timeout) {}

  void OnStart(TimePoint now) { OnValidPacket(now); }
  void OnValidPacket(TimePoint now) {
    last_valid_ = next_probe_base_ = now;
    give_up_at_ = kNever;
  }
  TimePoint last_valid() const { return last_valid_; }
  // Valid packets came in the last `span`. RFC 4340 §7.5.3
  bool ActiveWithin(Duration span, TimePoint now) const { return now - last_valid_ <= span; }

  Duration timeout() const { return timeout_; }
  bool enabled() const { return timeout_ > Duration::zero(); }
  TimePoint Deadline() const {
    return enabled() ? Earlier(next_probe_base_ + timeout_ / 2, give_up_at_) : kNever;
  }
  Action OnTimer(TimePoint now) {
    if (!enabled() || now < Deadline()) return Action::kNothing;
    if (now >= give_up_at_) return Action::kGiveUp;
    // A program that was held up asks late, while what the peer said may wait to be read: the peer
    // always has a quarter of the time to answer.
    if (give_up_at_ == kNever) give_up_at_ = Later(last_valid_ + timeout_, now + timeout_ / 4);
    // Halfway, then each eighth of the time: one lost probe must not end a connection.
    next_probe_base_ = now - timeout_ / 2 + timeout_ / 8;
    return Action::kProbe;
  }

 private:
  Duration timeout_;
  TimePoint last_valid_;
  TimePoint next_probe_base_;
  TimePoint give_up_at_ = kNever;  // set with the first probe
};

}  // namespace dccp
