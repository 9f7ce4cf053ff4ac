// Datagrams on their way from the network to the application.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dccp/seqno.h"
#include "dccp/time.h"
#include "stack/base/ring.h"
#include "stack/base/slab.h"
#include "stack/conn/send_queue.h"

namespace dccp {

struct RecvItem {
  Cell* cell = nullptr;  // cell->length is the payload
  Seq64 seq;
  TimePoint arrival;
  bool corrupt = false;  // delivered although damaged, reported with Drop Code 7. RFC 4340 §9.3
};

// Datagrams that wait for the application, in order of arrival. Owns the cells of the items in it.
// A full queue refuses: the caller reports that packet with Drop Code 2. RFC 4340 §11.7
class RecvQueue {
 public:
  RecvQueue(Slab& slab, const QueueLimits& limits) : slab_(slab), limits_(limits) {}
  ~RecvQueue() { Clear(); }
  RecvQueue(const RecvQueue&) = delete;
  RecvQueue& operator=(const RecvQueue&) = delete;

  // Whether Push would take a datagram of this length: to be asked before it is copied to a cell.
  bool HasRoom(std::uint32_t bytes) const {
    return ring_.size() < limits_.datagrams && bytes_ + bytes <= limits_.bytes;
  }
  // False: refused, and the cell stays the caller's.
  bool Push(const RecvItem& item);
  const RecvItem* Front() const { return ring_.empty() ? nullptr : &ring_.front(); }
  // Takes off the front; its cell is the caller's now.
  RecvItem Pop();
  void Clear();

  bool empty() const { return ring_.empty(); }
  std::size_t datagrams() const { return ring_.size(); }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t refused() const { return refused_; }
  void set_limits(const QueueLimits& limits) { limits_ = limits; }

 private:
  Slab& slab_;
  QueueLimits limits_;
  GrowingRing<RecvItem> ring_;
  std::uint64_t bytes_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace dccp
