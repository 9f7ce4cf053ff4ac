// Big-endian integers of any width up to 64 bits, as options carry them. RFC 4340 §3.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp {

// The integer that fills `bytes`, which is at most 8 bytes long; 0 where it is empty.
constexpr std::uint64_t LoadInteger(std::span<const std::byte> bytes) {
  std::uint64_t v = 0;
  for (std::byte b : bytes) v = (v << 8) | std::to_integer<std::uint64_t>(b);
  return v;
}

// Fills `out` (at most 8 bytes) with the low bytes of `v`.
constexpr void StoreInteger(std::span<std::byte> out, std::uint64_t v) {
  for (std::size_t i = out.size(); i > 0; v >>= 8) out[--i] = static_cast<std::byte>(v & 0xFF);
}

}  // namespace dccp
