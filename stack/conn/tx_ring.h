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
// FullForData() before it builds data or an acknowledgement; what does not fit stays pending in the
// connection and is built at the next Transmit. Other packets may use the reserve. Owns the cells
// it holds until they are popped.
class TxRing {
 public:
  // Slots that data and acknowledgements leave to packets that are sent only once in answer to
  // something: Syncs, Resets, Responses.
  static constexpr std::size_t kControlReserve = 32;

  // `capacity` is a power of two above kControlReserve.
  explicit TxRing(std::size_t capacity) : slots_(capacity), mask_(capacity - 1) {
    DCCP_CHECK(capacity > kControlReserve && (capacity & mask_) == 0);
  }

  bool Full() const { return size() == slots_.size(); }
  bool FullForData() const { return size() + kControlReserve >= slots_.size(); }
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
