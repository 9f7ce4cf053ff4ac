// IP headers for packets that no kernel socket writes or reads: those on a TUN device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/endpoint.h"

namespace dccp {

constexpr std::size_t kIpv4HeaderBytes = 20;
constexpr std::size_t kIpv6HeaderBytes = 40;

struct IpHeader {
  IpAddress source;
  IpAddress destination;
  std::uint8_t protocol = 0;
  Ecn ecn = Ecn::kNotEct;
  bool fragment = false;  // a piece of a packet, whose reassembly is nobody's business here
  std::span<const std::byte> payload;
};

enum class Extent : std::uint8_t {
  kWhole,
  kQuoted,  // in an ICMP message: the payload may be cut, and lengths and checksums are not binding
};

// Reads an IPv4 or IPv6 packet, past IPv6's hop-by-hop, routing and destination headers. Nothing
// for what is not IP, or a whole packet that is cut short or has a wrong IPv4 header checksum.
std::optional<IpHeader> ReadIpHeader(std::span<const std::byte> packet, Extent extent);

// Writes the header of a packet of protocol 33 and `payload_bytes`, as `datagram` says; how many
// bytes it took. `id` is used where IPv4 may fragment. RFC 791 §3.1, RFC 6864 §4, RFC 8200 §3
std::size_t WriteIpHeader(const OutboundDatagram& datagram, std::uint16_t id,
                          std::span<std::byte, kIpv6HeaderBytes> out);

}  // namespace dccp
