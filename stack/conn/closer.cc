#include "stack/conn/closer.h"

#include <algorithm>

namespace dccp {

void Closer::Request(TimePoint now, Duration drain, TimerSet& timers) {
  // now + drain may not be representable for "for ever".
  const TimePoint until = drain >= kNever - now ? kNever : now + drain;
  drain_until_ = requested_ ? Earlier(drain_until_, until) : until;
  requested_ = true;
  timers.Set(Timer::kClose, drain_until_);
}

void Closer::Start(PacketType type, TimePoint now, Duration rtt, Duration give_up,
                   TimerSet& timers) {
  requested_ = true;
  drain_until_ = kNever;
  type_ = type;
  backoff_.emplace(std::max(2 * rtt, kFloor), kCap);
  give_up_at_ = now + give_up;
  timers.Set(Timer::kClose, Earlier(now + backoff_->Next(), give_up_at_));
}

Closer::Action Closer::OnTimer(TimePoint now, TimerSet& timers) {
  if (!backoff_) return Action::kNothing;
  if (now >= give_up_at_) return Action::kGiveUp;
  timers.Set(Timer::kClose, Earlier(now + backoff_->Next(), give_up_at_));
  return Action::kRepeat;
}

}  // namespace dccp
