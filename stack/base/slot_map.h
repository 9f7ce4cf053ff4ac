// Objects behind {index, generation} handles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "stack/base/check.h"

namespace dccp {

// Owns objects of type T. A handle (any aggregate with uint32 `index` and `generation`, such as
// ConnId) is valid from Emplace until Erase; later it finds nothing, even when the place is used
// again. All operations are O(1); an object never moves, because storage grows in chunks. Storage
// is kept for reuse until the map is destroyed.
template <typename T, typename Handle, std::size_t kChunkSize = 64>
class SlotMap {
 public:
  SlotMap() = default;
  ~SlotMap() { Clear(); }
  SlotMap(const SlotMap&) = delete;
  SlotMap& operator=(const SlotMap&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // One more than the greatest index ever given out.
  std::uint32_t index_limit() const { return used_; }

  // Constructs a T from the arguments.
  template <typename... Args>
  Handle Emplace(Args&&... args) {
    const std::uint32_t index = TakeIndex();
    Slot& slot = At(index);
    const Handle handle{.index = index, .generation = slot.generation};
    ::new (static_cast<void*>(slot.storage.data())) T(std::forward<Args>(args)...);
    slot.live = true;
    ++size_;
    return handle;
  }

  // Null when the handle is stale or was never given out.
  T* Find(Handle handle) {
    if (handle.index >= used_) return nullptr;
    Slot& slot = At(handle.index);
    return slot.live && slot.generation == handle.generation ? slot.object() : nullptr;
  }
  const T* Find(Handle handle) const { return const_cast<SlotMap*>(this)->Find(handle); }

  // The object at an index, or null when the place is free.
  T* AtIndex(std::uint32_t index) {
    return index < used_ && At(index).live ? At(index).object() : nullptr;
  }
  // The handle of a live index.
  Handle HandleAt(std::uint32_t index) {
    DCCP_CHECK(index < used_ && At(index).live);
    return Handle{.index = index, .generation = At(index).generation};
  }

  // False when the handle is stale.
  bool Erase(Handle handle) {
    T* object = Find(handle);
    if (object == nullptr) return false;
    object->~T();
    Slot& slot = At(handle.index);
    slot.live = false;
    ++slot.generation;
    slot.next_free = free_;
    free_ = handle.index;
    --size_;
    return true;
  }

  // Calls f(handle, object) for each object in index order. f may erase the object it is given.
  template <typename F>
  void ForEach(F&& f) {
    for (std::uint32_t i = 0; i < used_; ++i) {
      Slot& slot = At(i);
      if (slot.live) f(Handle{.index = i, .generation = slot.generation}, *slot.object());
    }
  }

  void Clear() {
    ForEach([this](Handle handle, T&) { Erase(handle); });
  }

 private:
  static constexpr std::uint32_t kNoSlot = 0xFFFFFFFFu;

  struct Slot {
    alignas(T) std::array<std::byte, sizeof(T)> storage;
    std::uint32_t generation = 1;
    std::uint32_t next_free = kNoSlot;
    bool live = false;

    T* object() { return std::launder(reinterpret_cast<T*>(storage.data())); }
  };
  using Chunk = std::array<Slot, kChunkSize>;

  Slot& At(std::uint32_t index) { return (*chunks_[index / kChunkSize])[index % kChunkSize]; }

  std::uint32_t TakeIndex() {
    if (free_ != kNoSlot) {
      const std::uint32_t index = free_;
      free_ = At(index).next_free;
      return index;
    }
    DCCP_CHECK(used_ < kNoSlot);
    if (used_ == chunks_.size() * kChunkSize) chunks_.push_back(std::make_unique<Chunk>());
    return used_++;
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint32_t used_ = 0;
  std::uint32_t free_ = kNoSlot;
  std::size_t size_ = 0;
};

}  // namespace dccp
