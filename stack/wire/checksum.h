// The header checksum and its pseudo-headers. RFC 4340 §9
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/types.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// The part of the pseudo-header that is constant on a path, summed once; the order of the two
// addresses does not matter to the sum. Worth keeping with a connection. RFC 4340 §9.1
//
//   IPv4: source address, destination address, 0, 33, 16 bits of DCCP length
//   IPv6: source address, destination address, 32 bits of DCCP length, 24 zero bits, 33
class PseudoHeader {
 public:
  PseudoHeader(const IpAddress& src, const IpAddress& dst);

  // The Internet checksum of the pseudo-header and the first `covered_bytes` bytes of `dccp`, with
  // the Checksum field as it stands: 0 says that a received packet is good. The length that enters
  // the pseudo-header is dccp.size(), whatever is covered. `covered_bytes` is 12 to dccp.size().
  std::uint16_t Sum(std::span<const std::byte> dccp, std::size_t covered_bytes) const;

  // As Sum, with the Checksum field taken as 0: what to store there. 0 is stored as 0.
  std::uint16_t Compute(std::span<const std::byte> dccp, std::size_t covered_bytes) const;

  bool Verify(const PacketView& packet) const {
    return Sum(packet.bytes(), packet.covered_bytes()) == 0;
  }

 private:
  std::uint64_t sum_;  // ones' complement, in host order
};

// PseudoHeader(src, dst).Sum(dccp, covered_bytes).
std::uint16_t DccpChecksum(const IpAddress& src, const IpAddress& dst,
                           std::span<const std::byte> dccp, std::size_t covered_bytes);
std::uint16_t ComputeChecksum(const IpAddress& src, const IpAddress& dst,
                              std::span<const std::byte> dccp, std::size_t covered_bytes);
bool VerifyChecksum(const IpAddress& src, const IpAddress& dst, const PacketView& packet);

// How many bytes of a packet with this header (options included) and payload a CsCov value covers.
// The value must fit the payload, see FittingCoverage. RFC 4340 §9.2
constexpr std::size_t CoverageBytes(std::uint8_t cscov, std::size_t header_bytes,
                                    std::size_t payload_bytes) {
  return header_bytes + (cscov == 0 ? payload_bytes : (std::size_t{cscov} - 1) * 4);
}

// The CsCov value to send for a wanted one: the wanted one where the payload is long enough, else
// 0, which covers everything. RFC 4340 §9.2
constexpr std::uint8_t FittingCoverage(std::uint8_t wanted, std::size_t payload_bytes) {
  const bool fits = wanted != 0 && (std::size_t{wanted} - 1) * 4 <= payload_bytes;
  return fits ? wanted : std::uint8_t{0};
}

}  // namespace dccp
