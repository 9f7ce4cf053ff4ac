#include "stack/conn/send_queue.h"

#include "stack/base/check.h"

namespace dccp {

SendQueue::SendQueue(Slab& slab, const QueueLimits& limits, QueuePolicy policy)
    : slab_(slab), limits_(limits), policy_(policy) {}

bool SendQueue::HasRoom(std::uint32_t bytes) const {
  return datagrams_ < limits_.datagrams && bytes_ + bytes <= limits_.bytes;
}

bool SendQueue::Push(const SendItem& item, TimePoint now) {
  if (!HasRoom(item.cell->length) && !MakeRoom(item, now)) return false;
  std::uint32_t node = free_;
  if (node != kNone) {
    free_ = nodes_[node].next;
  } else {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[node] = {item, tail_, kNone};
  (tail_ == kNone ? head_ : nodes_[tail_].next) = node;
  tail_ = node;
  ++datagrams_;
  bytes_ += item.cell->length;
  return true;
}

bool SendQueue::MakeRoom(const SendItem& item, TimePoint now) {
  const std::uint32_t bytes = item.cell->length;
  DropExpired(now);
  if (limits_.datagrams == 0 || bytes > limits_.bytes) return false;
  if (policy_ == QueuePolicy::kRejectNewest) return HasRoom(bytes);
  const bool by_priority = policy_ == QueuePolicy::kDropLowestPriority;
  if (by_priority && !LowerOnesSuffice(item)) return false;
  while (!HasRoom(bytes)) Drop(by_priority ? LowestPriority() : head_);
  return true;
}

// Whether there is room for `item` once everything of a lower priority is gone.
bool SendQueue::LowerOnesSuffice(const SendItem& item) const {
  std::uint32_t datagrams = datagrams_;
  std::uint64_t bytes = bytes_;
  for (std::uint32_t n = head_; n != kNone; n = nodes_[n].next) {
    if (nodes_[n].item.priority >= item.priority) continue;
    --datagrams;
    bytes -= nodes_[n].item.cell->length;
  }
  return datagrams < limits_.datagrams && bytes + item.cell->length <= limits_.bytes;
}

// The oldest of those that have the lowest priority; the queue is not empty.
std::uint32_t SendQueue::LowestPriority() const {
  std::uint32_t lowest = head_;
  for (std::uint32_t n = head_; n != kNone; n = nodes_[n].next) {
    if (nodes_[n].item.priority < nodes_[lowest].item.priority) lowest = n;
  }
  return lowest;
}

SendItem SendQueue::Unlink(std::uint32_t node) {
  Node& gone = nodes_[node];
  (gone.prev == kNone ? head_ : nodes_[gone.prev].next) = gone.next;
  (gone.next == kNone ? tail_ : nodes_[gone.next].prev) = gone.prev;
  gone.next = free_;
  free_ = node;
  --datagrams_;
  bytes_ -= gone.item.cell->length;
  return gone.item;
}

void SendQueue::Drop(std::uint32_t node) {
  slab_.Free(Unlink(node).cell);
  ++dropped_;
}

void SendQueue::DropExpired(TimePoint now) {
  while (head_ != kNone && nodes_[head_].item.deadline <= now) {
    slab_.Free(Unlink(head_).cell);
    ++expired_;
  }
}

const SendItem* SendQueue::Front(TimePoint now) {
  DropExpired(now);
  return head_ == kNone ? nullptr : &nodes_[head_].item;
}

SendItem SendQueue::Pop() {
  DCCP_CHECK(head_ != kNone);
  return Unlink(head_);
}

void SendQueue::DropFront() {
  DCCP_CHECK(head_ != kNone);
  Drop(head_);
}

void SendQueue::Clear() {
  while (head_ != kNone) slab_.Free(Unlink(head_).cell);
}

}  // namespace dccp
