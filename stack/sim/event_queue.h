// The future of a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dccp/time.h"

namespace dccp {

// Receives its events back at their time; `cookie` is what it scheduled.
class SimActor {
 public:
  virtual ~SimActor() = default;
  virtual void OnSimEvent(std::uint64_t cookie) = 0;
};

// A 4-ary heap of events; equal times leave in the order in which they came.
class EventQueue {
 public:
  struct Event {
    TimePoint at;
    std::uint64_t order = 0;
    SimActor* actor = nullptr;
    std::uint64_t cookie = 0;
  };

  bool empty() const { return heap_.empty(); }
  const Event& top() const { return heap_.front(); }
  void Push(TimePoint at, SimActor* actor, std::uint64_t cookie);
  Event Pop();

 private:
  static bool Before(const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }

  std::vector<Event> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace dccp
