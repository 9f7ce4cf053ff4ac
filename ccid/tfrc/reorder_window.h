// Holds packets back until it is clear what is missing before them. RFC 5348 §5.1
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dccp/seqno.h"
#include "dccp/time.h"

namespace dccp::tfrc {

// What loss detection needs of a received packet.
struct ArrivedPacket {
  Seq64 seq;
  TimePoint time;
  std::uint64_t ndp = 0;  // NDP Count, 0 where there is none. RFC 4340 §7.7
  std::uint8_t ccval = 0;
  bool data = false;
  bool marked = false;  // ECN Congestion Experienced
  bool nonce = false;   // ECN nonce, ECT(1)
};

// Puts arrivals in the order of their numbers. It waits for a missing packet until NDUPACK = 3 with
// greater numbers have come, or a marked data packet, which shows congestion without waiting. The
// user inserts, then takes until nothing is ready.
class ReorderWindow {
 public:
  static constexpr std::size_t kNumDupAck = 3;

  explicit ReorderWindow(Seq64 next) : next_(next) {}

  // The least number that is still open. What arrives below comes late.
  Seq64 next() const { return next_; }
  // The next packet can be taken; a gap lies before it where its number is above next().
  bool ready() const {
    return count_ > 0 && (held_[0].seq == next_ || count_ >= kNumDupAck || marked_ > 0);
  }
  const ArrivedPacket& front() const { return held_[0]; }

  // `packet`.seq is at least next(), and ready() false. A number that is held already is ignored.
  void Insert(const ArrivedPacket& packet) {
    std::size_t i = count_;
    while (i > 0 && held_[i - 1].seq > packet.seq) --i;
    if (i > 0 && held_[i - 1].seq == packet.seq) return;
    for (std::size_t k = count_; k > i; --k) held_[k] = held_[k - 1];
    held_[i] = packet;
    ++count_;
    if (packet.data && packet.marked) ++marked_;
  }

  ArrivedPacket Take() {
    const ArrivedPacket packet = held_[0];
    --count_;
    for (std::size_t i = 0; i < count_; ++i) held_[i] = held_[i + 1];
    if (packet.data && packet.marked) --marked_;
    next_ = packet.seq + 1;
    return packet;
  }

 private:
  Seq64 next_;
  std::array<ArrivedPacket, kNumDupAck> held_ = {};  // by number
  std::size_t count_ = 0;
  std::size_t marked_ = 0;  // marked data packets held
};

}  // namespace dccp::tfrc
