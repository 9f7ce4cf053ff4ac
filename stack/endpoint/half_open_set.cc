#include "stack/endpoint/half_open_set.h"

namespace dccp {

void HalfOpenSet::Add(ConnEntry& entry, TimePoint now) {
  DCCP_CHECK(!entry.half_open);
  entry.half_open = true;
  entry.half_open_since = now;
  entry.half_open_index = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(&entry);
  by_age_.PushBack(entry);
}

void HalfOpenSet::Remove(ConnEntry& entry) {
  if (!entry.half_open) return;
  entry.half_open = false;
  by_age_.Remove(entry);
  ConnEntry* const last = entries_.back();
  entries_[entry.half_open_index] = last;
  last->half_open_index = entry.half_open_index;
  entries_.pop_back();
}

ConnEntry* HalfOpenSet::Victim(TimePoint now, RandomSource& random) const {
  if (entries_.empty()) return nullptr;
  if (now - by_age_.front()->half_open_since > kPatience) return by_age_.front();
  return entries_[random.NextUint64() % entries_.size()];
}

}  // namespace dccp
