#include "stack/conn/handshake.h"

namespace dccp {

void Handshake::StartRequest(TimePoint now, Duration give_up, TimerSet& timers) {
  give_up_at_ = now + give_up;
  timers.Set(Timer::kRequest, Earlier(now + request_.Next(), give_up_at_));
}

Handshake::Action Handshake::OnRequestTimer(TimePoint now, TimerSet& timers) {
  if (now >= give_up_at_) return Action::kGiveUp;
  timers.Set(Timer::kRequest, Earlier(now + request_.Next(), give_up_at_));
  return Action::kRepeat;
}

void Handshake::StartRespond(TimePoint now, Duration msl, TimerSet& timers) {
  timers.Set(Timer::kRespond, now + 4 * msl);
}

void Handshake::StartPartOpen(TimePoint now, Duration give_up, TimerSet& timers) {
  timers.Cancel(Timer::kRequest);
  give_up_at_ = now + give_up;
  part_open_interval_ = part_open_.Next();
  timers.Set(Timer::kPartOpen, now + part_open_interval_);
}

void Handshake::OnPartOpenSent(TimePoint now, TimerSet& timers) {
  timers.Set(Timer::kPartOpen, Earlier(now + part_open_interval_, give_up_at_));
}

Handshake::Action Handshake::OnPartOpenTimer(TimePoint now, TimerSet& timers) {
  if (now >= give_up_at_) return Action::kGiveUp;
  part_open_interval_ = part_open_.Next();
  timers.Set(Timer::kPartOpen, Earlier(now + part_open_interval_, give_up_at_));
  return Action::kRepeat;
}

void Handshake::Stop(TimerSet& timers) {
  timers.Cancel(Timer::kRequest);
  timers.Cancel(Timer::kRespond);
  timers.Cancel(Timer::kPartOpen);
}

}  // namespace dccp
