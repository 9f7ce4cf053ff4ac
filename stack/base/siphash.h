// SipHash-2-4: a keyed hash that a peer who does not know the key cannot steer. Used for the
// demultiplexing table and initial sequence numbers. (Aumasson, Bernstein 2012)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/random.h"

namespace dccp {

struct SipKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;

  // Bytes 0-7 and 8-15 of the key, little-endian, as the paper writes it.
  static SipKey FromBytes(std::span<const std::byte, 16> bytes);
  static SipKey Random(RandomSource& random) {
    const std::uint64_t k0 = random.NextUint64();
    return {k0, random.NextUint64()};
  }
};

std::uint64_t SipHash24(const SipKey& key, std::span<const std::byte> data);

}  // namespace dccp
