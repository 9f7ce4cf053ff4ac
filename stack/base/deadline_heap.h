// The deadlines of many connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dccp/time.h"

namespace dccp {

// One deadline for each index (a connection's), in a 4-ary heap. Re-arming is lazy: moving a
// deadline later, or removing it, only notes the wish, and the heap is put right when that entry
// reaches the top; a retransmission timer that each acknowledgement pushes back costs one store.
// What Next and PopExpired report is exact nevertheless. Allocates only when an index is greater
// than any before it (or than Reserve foresaw).
class DeadlineHeap {
 public:
  // Room for indices below `n`.
  void Reserve(std::uint32_t n);

  // kNever removes the deadline.
  void Set(std::uint32_t index, TimePoint deadline);
  void Remove(std::uint32_t index) { Set(index, kNever); }
  // kNever when it has none.
  TimePoint Get(std::uint32_t index) const;

  // The earliest deadline, or kNever.
  TimePoint Next();
  // Removes and returns the index with the earliest deadline not after `now`, if there is one.
  std::optional<std::uint32_t> PopExpired(TimePoint now);

 private:
  static constexpr std::uint32_t kNotInHeap = 0xFFFFFFFFu;

  struct Entry {
    TimePoint at;  // never later than the wish of its index
    std::uint32_t index;
  };
  struct Wish {
    TimePoint at = kNever;
    std::uint32_t position = kNotInHeap;
  };

  // Makes the top entry's time equal its wish, or the heap empty.
  void Settle();
  void PopTop();
  void SiftUp(std::size_t position, Entry entry);
  void SiftDown(std::size_t position, Entry entry);
  void Put(std::size_t position, Entry entry);

  std::vector<Entry> heap_;
  std::vector<Wish> wishes_;
};

}  // namespace dccp
