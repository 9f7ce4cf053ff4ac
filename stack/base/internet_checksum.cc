#include "stack/base/internet_checksum.h"

#include <cstring>

namespace dccp {
namespace {

// Two lanes of 64 bits. The halves of each lane are summed apart, so no carry is ever lost: 2^31
// rounds would be needed to overflow one.
using Lanes = std::uint64_t __attribute__((vector_size(16)));

}  // namespace

std::uint64_t SumInMemoryOrder(std::span<const std::byte> bytes) {
  const std::byte* p = bytes.data();
  std::size_t n = bytes.size();
  std::uint64_t sum = 0;
  if (n >= 32) {
    const Lanes mask = {0xFFFFFFFFu, 0xFFFFFFFFu};
    Lanes even = {0, 0};
    Lanes odd = {0, 0};
    for (; n >= 32; p += 32, n -= 32) {
      Lanes a;
      Lanes b;
      std::memcpy(&a, p, sizeof a);
      std::memcpy(&b, p + sizeof a, sizeof b);
      even += (a & mask) + (b & mask);
      odd += (a >> 32) + (b >> 32);
    }
    const Lanes all = even + odd;
    sum = AddWithCarry(all[0], all[1]);
  }
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    sum = AddWithCarry(sum, word);
  }
  if (n > 0) {
    // The zero bytes behind the rest are the padding of an odd length too. RFC 4340 §9.1
    std::uint64_t word = 0;
    std::memcpy(&word, p, n);
    sum = AddWithCarry(sum, word);
  }
  return sum;
}

std::uint16_t Fold(std::uint64_t sum) {
  sum = (sum & 0xFFFFFFFFu) + (sum >> 32);
  sum = (sum & 0xFFFFFFFFu) + (sum >> 32);
  sum = (sum & 0xFFFFu) + (sum >> 16);
  sum = (sum & 0xFFFFu) + (sum >> 16);
  sum = (sum & 0xFFFFu) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint16_t OnesSum(std::span<const std::byte> bytes, std::uint32_t sum) {
  const std::uint64_t before = Network16(Fold(sum));
  return static_cast<std::uint16_t>(Network16(Fold(AddWithCarry(SumInMemoryOrder(bytes), before))));
}

}  // namespace dccp
