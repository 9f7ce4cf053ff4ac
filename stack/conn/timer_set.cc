#include "stack/conn/timer_set.h"

#include <algorithm>

namespace dccp {

void TimerSet::Set(Timer timer, TimePoint deadline) {
  TimePoint& slot = deadlines_[static_cast<std::size_t>(timer)];
  const bool was_next = slot == next_;
  slot = deadline;
  if (deadline <= next_) {
    next_ = deadline;
  } else if (was_next) {
    next_ = *std::min_element(deadlines_.begin(), deadlines_.end());
  }
}

void TimerSet::CancelAll() {
  deadlines_.fill(kNever);
  next_ = kNever;
}

std::optional<Timer> TimerSet::PopExpired(TimePoint now) {
  if (next_ == kNever || next_ > now) return std::nullopt;
  const auto due = std::min_element(deadlines_.begin(), deadlines_.end());
  const auto timer = static_cast<Timer>(due - deadlines_.begin());
  Cancel(timer);
  return timer;
}

}  // namespace dccp
