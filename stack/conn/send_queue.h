// Datagrams on their way from the application to the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dccp/connection.h"
#include "dccp/time.h"
#include "stack/base/slab.h"

namespace dccp {

struct QueueLimits {
  std::uint32_t datagrams = 256;
  std::uint64_t bytes = std::uint64_t{1} << 20;
};

struct SendItem {
  Cell* cell = nullptr;         // cell->length is the payload
  TimePoint deadline = kNever;  // dropped unsent from this time on
  std::uint8_t priority = 0;    // higher survives longer under kDropLowestPriority
};

// Datagrams of the application that wait for the CCID: first in, first out, whatever their
// priority. Owns the cells of the items in it and gives them back to the slab when it drops them.
//
// A full queue refuses the new datagram (kRejectNewest), makes room at the front (kDropOldest), or
// drops the oldest of the lowest priority if that is below the new one's and else refuses
// (kDropLowestPriority: this alone looks through the whole queue). Everything else takes constant
// time, and nothing is allocated once the queue was as long as it gets.
class SendQueue {
 public:
  SendQueue(Slab& slab, const QueueLimits& limits, QueuePolicy policy);
  ~SendQueue() { Clear(); }
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  // False: refused, and the cell stays the caller's.
  bool Push(const SendItem& item, TimePoint now);
  // The datagram to send next, or null. Expired ones before it are dropped.
  const SendItem* Front(TimePoint now);
  // Takes off what Front returned; its cell is the caller's now.
  SendItem Pop();
  // Drops what Front returned, such as a datagram that a smaller MPS has overtaken.
  void DropFront();
  void Clear();

  // A datagram of this length would be accepted without dropping any.
  bool HasRoom(std::uint32_t bytes) const;
  bool empty() const { return datagrams_ == 0; }
  std::uint32_t datagrams() const { return datagrams_; }
  std::uint64_t bytes() const { return bytes_; }
  // Of the oldest datagram, expired or not; the queue is not empty.
  std::uint32_t front_bytes() const { return nodes_[head_].item.cell->length; }
  std::uint64_t dropped() const { return dropped_; }  // by policy or DropFront
  std::uint64_t expired() const { return expired_; }
  void set_limits(const QueueLimits& limits) { limits_ = limits; }
  void set_policy(QueuePolicy policy) { policy_ = policy; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Node {
    SendItem item;
    std::uint32_t prev = kNone;  // towards the front
    std::uint32_t next = kNone;
  };

  bool MakeRoom(const SendItem& item, TimePoint now);
  bool LowerOnesSuffice(const SendItem& item) const;
  std::uint32_t LowestPriority() const;
  SendItem Unlink(std::uint32_t node);
  void Drop(std::uint32_t node);
  void DropExpired(TimePoint now);

  Slab& slab_;
  QueueLimits limits_;
  QueuePolicy policy_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
  std::uint32_t datagrams_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t expired_ = 0;
};

}  // namespace dccp
