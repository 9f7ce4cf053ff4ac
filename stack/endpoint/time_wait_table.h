// Tuples that must not be used again for a while.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/base/flat_map.h"
#include "stack/base/ring.h"
#include "stack/base/siphash.h"

namespace dccp {

// Holds the tuple of each connection in TIMEWAIT, without the connection, for 2 MSL. All entries
// wait equally long and time never runs backwards, so they leave in the order in which they came.
// At most `capacity` entries: then the oldest goes before its time, since a peer that opens and
// resets connections must not be able to lock everybody out.
// Needs no deadline: an entry past its time counts as gone, and the memory comes back with the next
// Add or Expire. RFC 4340 §8.4, §8.5 step 2
class TimeWaitTable {
  // The map's index of an entry is its running number, which outlives moves within the ring.
  static constexpr std::uint32_t kNumberMask = 0x7FFFFFFFu;

 public:
  TimeWaitTable(const SipKey& key, Duration wait, std::size_t capacity = kNumberMask)
      : key_(key), wait_(wait), capacity_(capacity) {}

  // Keeps `tuple` until `now` + wait; one that is here already waits from anew.
  void Add(const FlowTuple& tuple, TimePoint now);
  bool Contains(const FlowTuple& tuple, TimePoint now) const;
  void Expire(TimePoint now);

  // Entries not expired yet.
  std::size_t size() const { return map_.size(); }

 private:
  struct Entry {
    FlowTuple tuple;
    std::uint64_t hash = 0;
    TimePoint expiry;
    bool replaced = false;  // a later entry of the same tuple counts
  };
  void PopFront();
  const Entry& Numbered(std::uint32_t number) const {
    return entries_[(number - first_number_) & kNumberMask];
  }
  std::uint32_t FindNumber(const FlowTuple& tuple, std::uint64_t hash) const;

  SipKey key_;
  Duration wait_;
  std::size_t capacity_;
  FlatMap map_;
  GrowingRing<Entry> entries_;
  std::uint32_t first_number_ = 0;  // of entries_.front()
};

}  // namespace dccp
