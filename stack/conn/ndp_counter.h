// NDP Count of the packets that we send.
#pragma once

#include <cstdint>

#include "dccp/types.h"

namespace dccp {

// Counts the non-data packets just sent, for the NDP Count option. RFC 4340 §7.7
class NdpCounter {
 public:
  static constexpr std::uint64_t kMax = (std::uint64_t{1} << 48) - 1;

  // The NDP Count of the packet to be sent next; 0: it needs no option.
  std::uint64_t next() const { return run_; }
  void OnSent(PacketType type) {
    if (IsDataPacket(type)) {
      run_ = 0;
    } else if (run_ < kMax) {
      ++run_;
    }
  }

  // Whether `missing` consecutive numbers just before a packet with NDP Count `ndp` surely held
  // application data. RFC 4340 §7.7.1
  static constexpr bool DataLost(std::uint64_t missing, std::uint64_t ndp) { return missing > ndp; }

 private:
  std::uint64_t run_ = 0;
};

}  // namespace dccp
