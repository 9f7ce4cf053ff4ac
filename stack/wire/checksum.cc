#include "stack/wire/checksum.h"

#include <bit>
#include <cstring>

#include "stack/base/check.h"

namespace dccp {
namespace {

constexpr std::size_t kChecksumOffset = 6;

// Words are summed as they lie in memory: a ones' complement sum does not care about byte order as
// long as one order is kept to the end. RFC 1071 §2
constexpr std::uint64_t Network16(std::uint16_t v) {
  if constexpr (std::endian::native == std::endian::big) return v;
  return static_cast<std::uint16_t>((v << 8) | (v >> 8));
}

std::uint64_t AddWithCarry(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum + (sum < b ? 1 : 0);
}

// Two lanes of 64 bits. The halves of each lane are summed apart, so no carry is ever lost: 2^31
// rounds would be needed to overflow one.
using Lanes = std::uint64_t __attribute__((vector_size(16)));

std::uint64_t SumBytes(const std::byte* p, std::size_t n) {
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

std::uint16_t Finish(std::uint64_t sum) {
  return static_cast<std::uint16_t>(Network16(static_cast<std::uint16_t>(~Fold(sum))));
}

// The lengths in the pseudo-headers differ only in width: 16 bits or 32.
std::uint64_t LengthSum(std::size_t bytes) {
  return Network16(static_cast<std::uint16_t>(bytes)) +
         Network16(static_cast<std::uint16_t>(bytes >> 16));
}

}  // namespace

PseudoHeader::PseudoHeader(const IpAddress& src, const IpAddress& dst) {
  std::byte addresses[32];
  const std::size_t n = src.size();
  DCCP_CHECK(src.family == dst.family);
  std::memcpy(addresses, src.bytes.data(), n);
  std::memcpy(addresses + n, dst.bytes.data(), n);
  sum_ = Fold(SumBytes(addresses, 2 * n)) + Network16(kProtocolNumber);
}

std::uint16_t PseudoHeader::Sum(std::span<const std::byte> dccp, std::size_t covered_bytes) const {
  DCCP_CHECK(covered_bytes <= dccp.size());
  return Finish(AddWithCarry(SumBytes(dccp.data(), covered_bytes), sum_ + LengthSum(dccp.size())));
}

std::uint16_t PseudoHeader::Compute(std::span<const std::byte> dccp,
                                    std::size_t covered_bytes) const {
  DCCP_CHECK(covered_bytes <= dccp.size() && covered_bytes >= kMinPacketBytes);
  // Taking the field out again is adding its complement.
  std::uint16_t field;
  std::memcpy(&field, dccp.data() + kChecksumOffset, sizeof field);
  const std::uint64_t without = std::uint64_t{static_cast<std::uint16_t>(~field)};
  return Finish(
      AddWithCarry(SumBytes(dccp.data(), covered_bytes), sum_ + LengthSum(dccp.size()) + without));
}

std::uint16_t DccpChecksum(const IpAddress& src, const IpAddress& dst,
                           std::span<const std::byte> dccp, std::size_t covered_bytes) {
  return PseudoHeader(src, dst).Sum(dccp, covered_bytes);
}

std::uint16_t ComputeChecksum(const IpAddress& src, const IpAddress& dst,
                              std::span<const std::byte> dccp, std::size_t covered_bytes) {
  return PseudoHeader(src, dst).Compute(dccp, covered_bytes);
}

bool VerifyChecksum(const IpAddress& src, const IpAddress& dst, const PacketView& packet) {
  return PseudoHeader(src, dst).Verify(packet);
}

}  // namespace dccp
