// The demultiplexing table: from a 64-bit hash to an index.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stack/base/check.h"

namespace dccp {

// Open addressing with linear probing, deletion by backward shift (no tombstones, so a long-lived
// table does not decay). Keys stay with the caller: it supplies the hash and an equality test on
// the stored index. The hash must be keyed (SipHash) where a peer chooses the key, or it could
// build clusters. Allocates only when an insertion makes it more than half full.
class FlatMap {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Room for `n` entries without growth.
  void Reserve(std::size_t n) {
    const std::size_t capacity = std::bit_ceil(n < 8 ? std::size_t{16} : n * 2);
    if (capacity > entries_.size()) Rehash(capacity);
  }

  // The first index stored under `hash` for which equal(index) is true, else kNone.
  template <typename Equal>
  std::uint32_t Find(std::uint64_t hash, Equal&& equal) const {
    if (entries_.empty()) return kNone;
    for (std::size_t i = Home(hash);; i = (i + 1) & Mask()) {
      const Entry& entry = entries_[i];
      if (entry.index == kNone) return kNone;
      if (entry.hash == hash && equal(entry.index)) return entry.index;
    }
  }

  // The caller has made sure that the key is not in the table.
  void Insert(std::uint64_t hash, std::uint32_t index) {
    DCCP_CHECK(index != kNone);
    Reserve(size_ + 1);
    Place({hash, index});
    ++size_;
  }

  // False when no such entry exists.
  bool Erase(std::uint64_t hash, std::uint32_t index) {
    if (entries_.empty()) return false;
    std::size_t hole = Home(hash);
    while (entries_[hole].hash != hash || entries_[hole].index != index) {
      if (entries_[hole].index == kNone) return false;
      hole = (hole + 1) & Mask();
    }
    // Move back every later entry of the cluster whose home is not past the hole.
    for (std::size_t i = (hole + 1) & Mask(); entries_[i].index != kNone; i = (i + 1) & Mask()) {
      const std::size_t distance_from_home = (i - Home(entries_[i].hash)) & Mask();
      if (distance_from_home >= ((i - hole) & Mask())) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    entries_[hole] = {};
    --size_;
    return true;
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t index = kNone;
  };

  std::size_t Mask() const { return entries_.size() - 1; }
  std::size_t Home(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & Mask(); }

  void Place(Entry entry) {
    std::size_t i = Home(entry.hash);
    while (entries_[i].index != kNone) i = (i + 1) & Mask();
    entries_[i] = entry;
  }
  void Rehash(std::size_t capacity) {
    std::vector<Entry> old(capacity);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.index != kNone) Place(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace dccp
