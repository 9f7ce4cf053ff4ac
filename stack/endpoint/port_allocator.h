// Ephemeral ports.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/random.h"

namespace dccp {

// Picks a port from the dynamic range at random, and from there the next free one: "simple port
// randomization" of RFC 6056 §3.3.1. Stateless, because a port is taken only with respect to one
// remote address and port. RFC 4340 §5.1, §19.9
class PortAllocator {
 public:
  static constexpr std::uint32_t kFirst = 49152;
  static constexpr std::uint32_t kCount = 65536 - kFirst;

  explicit PortAllocator(RandomSource& random) : random_(random) {}

  // The first port, from a random start, for which is_free(port); empty when there is none.
  template <typename IsFree>
  std::optional<std::uint16_t> Choose(IsFree&& is_free) {
    const auto start = static_cast<std::uint32_t>(random_.NextUint64() % kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const auto port = static_cast<std::uint16_t>(kFirst + (start + i) % kCount);
      if (is_free(port)) return port;
    }
    return std::nullopt;
  }

 private:
  RandomSource& random_;
};

}  // namespace dccp
