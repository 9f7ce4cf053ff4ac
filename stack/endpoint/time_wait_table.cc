#include "stack/endpoint/time_wait_table.h"

#include "stack/base/check.h"
#include "stack/endpoint/flow_hash.h"

namespace dccp {

void TimeWaitTable::Add(const FlowTuple& tuple, TimePoint now) {
  Expire(now);
  const std::uint64_t hash = HashFlow(key_, tuple);
  const std::uint32_t old = FindNumber(tuple, hash);
  if (old != FlatMap::kNone) {
    entries_[(old - first_number_) & kNumberMask].replaced = true;
    DCCP_CHECK(map_.Erase(hash, old));
  }
  while (entries_.size() >= capacity_ && !entries_.empty()) PopFront();
  const auto offset = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({tuple, hash, now + wait_, false});
  map_.Insert(hash, (first_number_ + offset) & kNumberMask);
}

bool TimeWaitTable::Contains(const FlowTuple& tuple, TimePoint now) const {
  if (map_.empty()) return false;
  const std::uint32_t number = FindNumber(tuple, HashFlow(key_, tuple));
  return number != FlatMap::kNone && now < Numbered(number).expiry;
}

void TimeWaitTable::Expire(TimePoint now) {
  while (!entries_.empty() && entries_.front().expiry <= now) PopFront();
}

void TimeWaitTable::PopFront() {
  const Entry& entry = entries_.front();
  if (!entry.replaced) DCCP_CHECK(map_.Erase(entry.hash, first_number_));
  entries_.pop_front();
  first_number_ = (first_number_ + 1) & kNumberMask;
}

std::uint32_t TimeWaitTable::FindNumber(const FlowTuple& tuple, std::uint64_t hash) const {
  return map_.Find(hash, [&](std::uint32_t number) { return Numbered(number).tuple == tuple; });
}

}  // namespace dccp
