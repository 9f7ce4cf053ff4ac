#include "stack/sim/simulator.h"

#include <utility>

namespace dccp {

void Simulator::At(TimePoint at, std::function<void()> call) {
  Schedule(at, calls_, calls_.Keep(std::move(call)));
}

std::uint64_t Simulator::Calls::Keep(std::function<void()> call) {
  if (free_.empty()) {
    calls_.push_back(std::move(call));
    return calls_.size() - 1;
  }
  const std::uint64_t cookie = free_.back();
  free_.pop_back();
  calls_[cookie] = std::move(call);
  return cookie;
}

void Simulator::Calls::OnSimEvent(std::uint64_t cookie) {
  // The call may schedule others, and so move what the vector holds.
  const std::function<void()> call = std::move(calls_[cookie]);
  free_.push_back(cookie);
  call();
}

void Simulator::SettleAll() {
  for (SimParticipant* participant : participants_) participant->Settle();
}

void Simulator::RunNext() {
  const EventQueue::Event event = queue_.Pop();
  now_ = event.at;
  ++events_run_;
  event.actor->OnSimEvent(event.cookie);
  // A call of the test's may have used any endpoint.
  if (event.actor == &calls_) SettleAll();
}

void Simulator::RunUntil(TimePoint end) {
  SettleAll();
  while (!queue_.empty() && queue_.top().at <= end) RunNext();
  now_ = Later(now_, end);
}

bool Simulator::RunUntil(const std::function<bool()>& done, Duration limit) {
  SettleAll();
  const TimePoint end = now_ + limit;
  while (!done()) {
    if (queue_.empty() || queue_.top().at > end) {
      now_ = end;
      return false;
    }
    RunNext();
  }
  return true;
}

bool Simulator::RunUntilIdle(Duration limit) {
  SettleAll();
  const TimePoint end = now_ + limit;
  while (!queue_.empty()) {
    if (queue_.top().at > end) {
      now_ = end;
      return false;
    }
    RunNext();
  }
  return true;
}

}  // namespace dccp
