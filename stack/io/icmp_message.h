// What ICMP errors mean, and how to read one as a packet.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/endpoint.h"
#include "stack/io/ip_header.h"

namespace dccp {

// Nothing for a message that is no news about the path. RFC 792, RFC 1812 §5.2.7.1, RFC 4443 §3
std::optional<IcmpKind> IcmpKindOfV4(std::uint8_t type, std::uint8_t code);
std::optional<IcmpKind> IcmpKindOfV6(std::uint8_t type, std::uint8_t code);

// An error about a packet of protocol 33, of the path that the quoted packet took; its quotation
// points into `packet`. The checksum is not verified: whoever can forge it can compute it too, and
// the core believes only what quotes a sequence number of ours. RFC 4340 §14.1
std::optional<IcmpError> ReadIcmpError(const IpHeader& packet);

}  // namespace dccp
