#include "stack/sim/event_queue.h"

#include <algorithm>

namespace dccp {

namespace {
constexpr std::size_t kArity = 4;
}

void EventQueue::Push(TimePoint at, SimActor* actor, std::uint64_t cookie) {
  const Event event = {at, order_++, actor, cookie};
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!Before(event, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

EventQueue::Event EventQueue::Pop() {
  const Event top = heap_.front();
  const Event last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  while (hole * kArity + 1 < size) {
    const std::size_t first = hole * kArity + 1;
    const std::size_t end = std::min(first + kArity, size);
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (Before(heap_[child], heap_[least])) least = child;
    }
    if (!Before(heap_[least], last)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  if (size > 0) heap_[hole] = last;
  return top;
}

}  // namespace dccp
