#include "stack/base/deadline_heap.h"

#include <algorithm>

namespace dccp {

namespace {

constexpr std::size_t kArity = 4;

}  // namespace

void DeadlineHeap::Reserve(std::uint32_t n) {
  if (n <= wishes_.size()) return;
  wishes_.resize(n);
  heap_.reserve(n);
}

void DeadlineHeap::Set(std::uint32_t index, TimePoint deadline) {
  if (index >= wishes_.size()) {
    if (deadline == kNever) return;
    Reserve(static_cast<std::uint32_t>(std::max<std::size_t>(index + 1u, wishes_.size() * 2)));
  }
  Wish& wish = wishes_[index];
  wish.at = deadline;
  if (wish.position == kNotInHeap) {
    if (deadline == kNever) return;
    heap_.push_back({});
    SiftUp(heap_.size() - 1, {deadline, index});
  } else if (deadline < heap_[wish.position].at) {
    SiftUp(wish.position, {deadline, index});
  }
}

TimePoint DeadlineHeap::Get(std::uint32_t index) const {
  return index < wishes_.size() ? wishes_[index].at : kNever;
}

TimePoint DeadlineHeap::Next() {
  Settle();
  return heap_.empty() ? kNever : heap_[0].at;
}

std::optional<std::uint32_t> DeadlineHeap::PopExpired(TimePoint now) {
  // An entry past `now` need not be settled: its wish can only be later.
  while (!heap_.empty() && heap_[0].at <= now) {
    const Entry top = heap_[0];
    Wish& wish = wishes_[top.index];
    if (wish.at == top.at) {
      wish.at = kNever;
      PopTop();
      return top.index;
    }
    if (wish.at == kNever) {
      PopTop();
    } else {
      SiftDown(0, {wish.at, top.index});
    }
  }
  return std::nullopt;
}

void DeadlineHeap::Settle() {
  while (!heap_.empty()) {
    const Entry top = heap_[0];
    const TimePoint wanted = wishes_[top.index].at;
    if (wanted == top.at) return;
    if (wanted == kNever) {
      PopTop();
    } else {
      SiftDown(0, {wanted, top.index});
    }
  }
}

void DeadlineHeap::PopTop() {
  wishes_[heap_[0].index].position = kNotInHeap;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0, last);
}

void DeadlineHeap::SiftUp(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (heap_[parent].at <= entry.at) break;
    Put(position, heap_[parent]);
    position = parent;
  }
  Put(position, entry);
}

void DeadlineHeap::SiftDown(std::size_t position, Entry entry) {
  for (;;) {
    const std::size_t first = position * kArity + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].at < heap_[least].at) least = child;
    }
    if (entry.at <= heap_[least].at) break;
    Put(position, heap_[least]);
    position = least;
  }
  Put(position, entry);
}

void DeadlineHeap::Put(std::size_t position, Entry entry) {
  heap_[position] = entry;
  wishes_[entry.index].position = static_cast<std::uint32_t>(position);
}

}  // namespace dccp
