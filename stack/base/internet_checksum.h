// The Internet checksum: the ones' complement sum of 16-bit words. RFC 1071
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp {

// Between network byte order, in which words lie in memory, and the host's.
constexpr std::uint64_t Network16(std::uint16_t v) {
  if constexpr (std::endian::native == std::endian::big) return v;
  return static_cast<std::uint16_t>((v << 8) | (v >> 8));
}

constexpr std::uint64_t AddWithCarry(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum + (sum < b ? 1 : 0);
}

// The words as they lie in memory: a ones' complement sum does not care about byte order as long as
// one order is kept to the end (RFC 1071 §2). Not folded; further sums of the same order join it by
// AddWithCarry. An odd length is padded with a zero byte.
std::uint64_t SumInMemoryOrder(std::span<const std::byte> bytes);

// To 16 bits, in the order in which it was summed.
std::uint16_t Fold(std::uint64_t sum);

// The same in the host's order, folded and not inverted; `sum` is of what comes before, an even
// number of bytes.
std::uint16_t OnesSum(std::span<const std::byte> bytes, std::uint32_t sum = 0);

// What to store in a checksum field for a sum of the host's order.
inline std::uint16_t InvertedSum(std::uint32_t sum) {
  return static_cast<std::uint16_t>(~Fold(sum));
}

}  // namespace dccp
