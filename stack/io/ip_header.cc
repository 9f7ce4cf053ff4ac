#include "stack/io/ip_header.h"

#include <algorithm>
#include <cstring>

#include "stack/base/byte_order.h"
#include "stack/base/internet_checksum.h"

namespace dccp {
namespace {

constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint8_t kDccp = kProtocolNumber;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kFragmentMask = 0x3FFF;  // More Fragments and the offset

// IPv6 extension headers that may stand before the transport header. RFC 8200 §4.1
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragment = 44;
constexpr std::uint8_t kDestination = 60;

std::uint8_t Byte(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

std::optional<IpHeader> ReadV4(std::span<const std::byte> packet, Extent extent) {
  if (packet.size() < kIpv4HeaderBytes) return std::nullopt;
  const std::size_t header = (Byte(packet, 0) & 0x0Fu) * 4;
  std::size_t total = LoadBe16(packet.data() + 2);
  // Routers alter what they quote: lengths, checksums.
  if (extent == Extent::kQuoted) total = packet.size();
  if (header < kIpv4HeaderBytes || header > total || total > packet.size()) return std::nullopt;
  if (extent == Extent::kWhole && InvertedSum(OnesSum(packet.first(header))) != 0)
    return std::nullopt;
  IpHeader out;
  out.source.family = out.destination.family = IpFamily::kV4;
  std::memcpy(out.source.bytes.data(), packet.data() + 12, 4);
  std::memcpy(out.destination.bytes.data(), packet.data() + 16, 4);
  out.protocol = Byte(packet, 9);
  out.ecn = static_cast<Ecn>(Byte(packet, 1) & 3u);
  out.fragment = (LoadBe16(packet.data() + 6) & kFragmentMask) != 0;
  out.payload = packet.subspan(header, total - header);
  return out;
}

std::optional<IpHeader> ReadV6(std::span<const std::byte> packet, Extent extent) {
  if (packet.size() < kIpv6HeaderBytes) return std::nullopt;
  std::size_t length = LoadBe16(packet.data() + 4);
  if (extent == Extent::kQuoted) length = packet.size() - kIpv6HeaderBytes;
  if (length > packet.size() - kIpv6HeaderBytes) return std::nullopt;
  IpHeader out;
  out.source.family = out.destination.family = IpFamily::kV6;
  std::memcpy(out.source.bytes.data(), packet.data() + 8, 16);
  std::memcpy(out.destination.bytes.data(), packet.data() + 24, 16);
  out.ecn = static_cast<Ecn>(Byte(packet, 1) >> 4 & 3u);
  out.protocol = Byte(packet, 6);
  out.payload = packet.subspan(kIpv6HeaderBytes, length);
  while (out.protocol == kHopByHop || out.protocol == kRouting || out.protocol == kDestination) {
    if (out.payload.size() < 8) return std::nullopt;
    const std::size_t extension = (Byte(out.payload, 1) + 1u) * 8;
    if (extension > out.payload.size()) return std::nullopt;
    out.protocol = Byte(out.payload, 0);
    out.payload = out.payload.subspan(extension);
  }
  out.fragment = out.protocol == kFragment;
  return out;
}

}  // namespace

std::optional<IpHeader> ReadIpHeader(std::span<const std::byte> packet, Extent extent) {
  if (packet.empty()) return std::nullopt;
  switch (Byte(packet, 0) >> 4) {
    case 4:
      return ReadV4(packet, extent);
    case 6:
      return ReadV6(packet, extent);
    default:
      return std::nullopt;
  }
}

std::size_t WriteIpHeader(const OutboundDatagram& datagram, std::uint16_t id,
                          std::span<std::byte, kIpv6HeaderBytes> out) {
  std::ranges::fill(out, std::byte{0});
  const Path& path = datagram.path;
  const auto ecn = static_cast<std::uint8_t>(datagram.ecn);
  if (path.remote.family == IpFamily::kV4) {
    out[0] = std::byte{0x45};
    out[1] = std::byte{ecn};
    StoreBe16(&out[2], static_cast<std::uint16_t>(kIpv4HeaderBytes + datagram.bytes.size()));
    StoreBe16(&out[4], datagram.may_fragment ? id : std::uint16_t{0});
    StoreBe16(&out[6], datagram.may_fragment ? std::uint16_t{0} : kDontFragment);
    out[8] = std::byte{kHopLimit};
    out[9] = std::byte{kDccp};
    std::memcpy(&out[12], path.local.bytes.data(), 4);
    std::memcpy(&out[16], path.remote.bytes.data(), 4);
    StoreBe16(&out[10], InvertedSum(OnesSum(out.first(kIpv4HeaderBytes))));
    return kIpv4HeaderBytes;
  }
  StoreBe32(out.data(), 0x60000000u | static_cast<std::uint32_t>(ecn) << 20);
  StoreBe16(&out[4], static_cast<std::uint16_t>(datagram.bytes.size()));
  out[6] = std::byte{kDccp};
  out[7] = std::byte{kHopLimit};
  std::memcpy(&out[8], path.local.bytes.data(), 16);
  std::memcpy(&out[24], path.remote.bytes.data(), 16);
  return kIpv6HeaderBytes;
}

}  // namespace dccp
