#include "stack/wire/checksum.h"

#include <cstring>

#include "stack/base/check.h"
#include "stack/base/internet_checksum.h"

namespace dccp {
namespace {

constexpr std::size_t kChecksumOffset = 6;

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
  sum_ = Fold(SumInMemoryOrder({addresses, 2 * n})) + Network16(kProtocolNumber);
}

std::uint16_t PseudoHeader::Sum(std::span<const std::byte> dccp, std::size_t covered_bytes) const {
  DCCP_CHECK(covered_bytes <= dccp.size());
  return Finish(
      AddWithCarry(SumInMemoryOrder(dccp.first(covered_bytes)), sum_ + LengthSum(dccp.size())));
}

std::uint16_t PseudoHeader::Compute(std::span<const std::byte> dccp,
                                    std::size_t covered_bytes) const {
  DCCP_CHECK(covered_bytes <= dccp.size() && covered_bytes >= kMinPacketBytes);
  // Taking the field out again is adding its complement.
  std::uint16_t field;
  std::memcpy(&field, dccp.data() + kChecksumOffset, sizeof field);
  const std::uint64_t without = std::uint64_t{static_cast<std::uint16_t>(~field)};
  return Finish(AddWithCarry(SumInMemoryOrder(dccp.first(covered_bytes)),
                             sum_ + LengthSum(dccp.size()) + without));
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
