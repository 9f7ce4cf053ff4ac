// The packets that connections have built and the driver has not taken yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dccp/types.h"
#include "stack/base/check.h"
#include "stack/base/slab.h"

namespace dccp {

// One finished packet: the bytes are cell->data[offset, offset + length).
struct TxPacket {
  Cell* cell = nullptr;
  Path path;
  Ecn ecn = Ecn::kNotEct;
  bool may_fragment = false;
};

// A bounded first-in first-out ring shared by all connections of an endpoint. A connection asks
// Full() before it builds; what does not fit stays pending in the connection and is built at the
// next Transmit, so nothing is ever lost here. Owns the cells it holds until they are popped.
class TxRing {
 public:
  // `capacity` is a power of two.
  explicit TxRing(std::size_t capacity) : slots_(capacity), mask_(capacity - 1) {
    DCCP_CHECK(capacity != 0 && (capacity & mask_) == 0);
  }

  bool Full() const { return size() == slots_.size(); }
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }

  void Push(const TxPacket& packet) {
    DCCP_CHECK(!Full());
    slots_[tail_++ & mask_] = packet;
  }
  const TxPacket& Front() const { return slots_[head_ & mask_]; }
  void Pop() {
    DCCP_CHECK(!empty());
    ++head_;
  }

 private:
  std::vector<TxPacket> slots_;
  std::size_t mask_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace dccp
