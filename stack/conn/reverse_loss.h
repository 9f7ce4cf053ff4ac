// Losses on the path of the peer's acknowledgements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dccp/seqno.h"
#include "dccp/types.h"

namespace dccp {

// Counts losses and ECN marks of the peer's non-data packets, its acknowledgements, for Ack Ratio
// control. A number is lost when three greater ones have arrived; of unknown kind it counts as
// non-data. RFC 4341 §6.1.1
//
// Only the three greatest arrivals are kept: what is missing below the third of them is lost.
class ReverseLossDetector {
 public:
  struct Counts {
    std::uint32_t lost = 0;
    std::uint32_t marked = 0;
  };

  void Start(Seq64 isr);
  // A valid packet that is no duplicate. `ndp` is its NDP Count, 0 for an absent option, or empty
  // when the peer does not send NDP Counts (Send NDP Count is 0). RFC 4340 §7.7
  void OnPacket(Seq64 seq, PacketType type, Ecn ecn, std::optional<std::uint64_t> ndp);
  // The counts since the last call.
  Counts Take();

 private:
  struct Arrival {
    Seq64 seq;
    std::optional<std::uint64_t> ndp;
  };
  std::array<Arrival, 3> newest_;  // greatest first
  Counts counts_;
};

}  // namespace dccp
