#include "apps/common/ip_packet.h"

#include <algorithm>

#include "stack/base/byte_order.h"

namespace dccp::apps {

namespace {

constexpr std::uint16_t kEtherIpv4 = 0x0800;
constexpr std::uint16_t kEtherIpv6 = 0x86DD;

bool IsVlan(std::uint16_t ether_type) {
  return ether_type == 0x8100 || ether_type == 0x88A8 || ether_type == 0x9100;
}

std::span<const std::byte> FromEtherType(std::uint16_t type, std::span<const std::byte> rest) {
  while (IsVlan(type) && rest.size() >= 4) {
    type = LoadBe16(rest.data() + 2);
    rest = rest.subspan(4);
  }
  return type == kEtherIpv4 || type == kEtherIpv6 ? rest : std::span<const std::byte>();
}

std::span<const std::byte> Skip(std::span<const std::byte> bytes, std::size_t n) {
  return bytes.size() > n ? bytes.subspan(n) : std::span<const std::byte>();
}

bool ParseIpv4(std::span<const std::byte> b, IpPacket* out) {
  if (b.size() < 20) return false;
  const std::size_t header = (Load8(b.data()) & 0x0Fu) * std::size_t{4};
  std::size_t total = LoadBe16(b.data() + 2);
  if (total == 0) total = b.size();  // segmentation offload on the capturing host
  if (header < 20 || header > b.size() || total < header) return false;
  out->ecn = static_cast<Ecn>(Load8(b.data() + 1) & 3u);
  const std::uint16_t fragment = LoadBe16(b.data() + 6);
  out->later_fragment = (fragment & 0x1FFFu) != 0;
  out->first_fragment = !out->later_fragment && (fragment & 0x2000u) != 0;
  out->hop_limit = Load8(b.data() + 8);
  out->protocol = Load8(b.data() + 9);
  out->src = out->dst = {};
  for (std::size_t i = 0; i < 4; ++i) {
    out->src.bytes[i] = Load8(b.data() + 12 + i);
    out->dst.bytes[i] = Load8(b.data() + 16 + i);
  }
  out->payload_bytes = total - header;
  out->payload = b.subspan(header, std::min(out->payload_bytes, b.size() - header));
  return true;
}

// The bytes of the extension header `type` at `p`, 0 for anything else. RFC 8200 §4
std::size_t ExtensionBytes(std::uint8_t type, std::span<const std::byte> p) {
  if (p.size() < 8) return 0;
  switch (type) {
    case 0:    // Hop-by-Hop
    case 43:   // Routing
    case 60:   // Destination
    case 135:  // Mobility
    case 139:  // HIP
    case 140:  // Shim6
      return (Load8(p.data() + 1) + std::size_t{1}) * 8;
    case 44:  // Fragment
      return 8;
    case 51:  // Authentication
      return (Load8(p.data() + 1) + std::size_t{2}) * 4;
    default:
      return 0;
  }
}

bool ParseIpv6(std::span<const std::byte> b, IpPacket* out) {
  if (b.size() < 40) return false;
  out->src = out->dst = {IpFamily::kV6, {}, 0};
  for (std::size_t i = 0; i < 16; ++i) {
    out->src.bytes[i] = Load8(b.data() + 8 + i);
    out->dst.bytes[i] = Load8(b.data() + 24 + i);
  }
  out->ecn = static_cast<Ecn>((LoadBe16(b.data()) >> 4) & 3u);
  out->hop_limit = Load8(b.data() + 7);
  out->protocol = Load8(b.data() + 6);
  out->payload_bytes = LoadBe16(b.data() + 4);
  if (out->payload_bytes == 0) out->payload_bytes = b.size() - 40;
  out->payload = b.subspan(40, std::min(out->payload_bytes, b.size() - 40));
  while (const std::size_t n = ExtensionBytes(out->protocol, out->payload)) {
    if (n > out->payload.size()) return false;
    if (out->protocol == 44) {
      const std::uint16_t fragment = LoadBe16(out->payload.data() + 2);
      out->later_fragment = (fragment & 0xFFF8u) != 0;
      out->first_fragment = !out->later_fragment && (fragment & 1u) != 0;
    }
    out->protocol = Load8(out->payload.data());
    out->payload = out->payload.subspan(n);
    out->payload_bytes -= n;
    if (out->later_fragment) break;
  }
  return true;
}

}  // namespace

bool IsKnownLinkType(std::uint32_t link_type) {
  switch (link_type) {
    case 0:
    case 1:
    case 12:
    case 14:
    case 101:
    case 108:
    case 113:
    case 228:
    case 229:
    case 276:
      return true;
    default:
      return false;
  }
}

std::span<const std::byte> StripLinkLayer(std::uint32_t link_type,
                                          std::span<const std::byte> frame) {
  switch (link_type) {
    case 0:    // NULL: the address family in the capturing host's byte order
    case 108:  // LOOP: the same in network order; the IP version says all that is needed
      return Skip(frame, 4);
    case 1:
      if (frame.size() < 14) return {};
      return FromEtherType(LoadBe16(frame.data() + 12), frame.subspan(14));
    case 12:
    case 14:
    case 101:
    case 228:
    case 229:
      return frame;
    case 113:
      if (frame.size() < 16) return {};
      return FromEtherType(LoadBe16(frame.data() + 14), frame.subspan(16));
    case 276:
      if (frame.size() < 20) return {};
      return FromEtherType(LoadBe16(frame.data()), frame.subspan(20));
    default:
      return {};
  }
}

bool ParseIp(std::span<const std::byte> bytes, IpPacket* out) {
  if (bytes.empty()) return false;
  *out = {};
  switch (Load8(bytes.data()) >> 4) {
    case 4:
      return ParseIpv4(bytes, out);
    case 6:
      return ParseIpv6(bytes, out);
    default:
      return false;
  }
}

}  // namespace dccp::apps
