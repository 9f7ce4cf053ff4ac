// From a captured frame to the transport payload of an IP packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/types.h"

namespace dccp::apps {

// An IPv4 or IPv6 packet whose headers lie within the captured bytes. Owns nothing.
struct IpPacket {
  IpAddress src;
  IpAddress dst;
  std::uint8_t protocol = 0;  // behind all extension headers
  Ecn ecn = Ecn::kNotEct;
  std::uint8_t hop_limit = 0;
  bool first_fragment = false;    // more fragments follow
  bool later_fragment = false;    // payload does not start with a transport header
  std::size_t payload_bytes = 0;  // as the IP header says; more than payload.size() where cut off
  std::span<const std::byte> payload;
};

// The network layer of a frame, or an empty span where it is neither IPv4 nor IPv6. Understands the
// link types NULL, EN10MB (with VLAN tags), RAW, LOOP, Linux SLL and SLL2, IPV4 and IPV6.
std::span<const std::byte> StripLinkLayer(std::uint32_t link_type,
                                          std::span<const std::byte> frame);
bool IsKnownLinkType(std::uint32_t link_type);

// False on anything that is no IP packet; `*out` is then unspecified.
bool ParseIp(std::span<const std::byte> bytes, IpPacket* out);

}  // namespace dccp::apps
