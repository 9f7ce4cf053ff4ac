#include "apps/dccp-netem/icmp_error.h"

#include <algorithm>
#include <cstring>

#include "stack/base/byte_order.h"
#include "stack/base/internet_checksum.h"

namespace dccp::apps::netem {

namespace {

constexpr std::uint8_t kIcmpV4 = 1;
constexpr std::uint8_t kIcmpV6 = 58;
constexpr std::size_t kIcmpHeaderBytes = 8;
constexpr std::size_t kMaxV4Bytes = 576;   // RFC 1812 §4.3.2.3
constexpr std::size_t kMaxV6Bytes = 1280;  // RFC 4443 §2.4
constexpr std::uint8_t kHopLimit = 64;

// Echo, timestamps and the like are questions and answers, not errors.
bool IsIcmpV4Error(std::uint8_t type) {
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

}  // namespace

bool MayReport(std::span<const std::byte> frame, const FrameInfo& info) {
  if (!info.family || info.later_fragment) return false;
  // To many on the link.
  if ((Load8(frame.data()) & 1u) != 0) return false;
  const IpAddress source = FrameSource(frame, info);
  if (source.IsUnspecified() || source.IsMulticastOrBroadcast()) return false;
  if (FrameDestination(frame, info).IsMulticastOrBroadcast()) return false;
  const std::size_t transport = info.l3 + info.ip_header_bytes;
  if (info.ip_bytes <= info.ip_header_bytes) return true;
  const std::uint8_t type = Load8(frame.data() + transport);
  if (*info.family == IpFamily::kV4 && info.protocol == kIcmpV4) return !IsIcmpV4Error(type);
  if (*info.family == IpFamily::kV6 && info.protocol == kIcmpV6) return type >= 128;
  return true;
}

std::size_t WriteIcmpError(std::span<const std::byte> frame, const FrameInfo& info,
                           IcmpReason reason, const IpAddress& source, std::uint32_t mtu_bytes,
                           std::span<std::byte, kMaxIcmpFrameBytes> out) {
  const bool v4 = *info.family == IpFamily::kV4;
  const std::size_t header = v4 ? 20 : 40;
  const std::size_t room = (v4 ? kMaxV4Bytes : kMaxV6Bytes) - header - kIcmpHeaderBytes;
  const std::size_t quoted = std::min<std::size_t>(info.ip_bytes, room);
  const std::size_t icmp_bytes = kIcmpHeaderBytes + quoted;
  std::fill(out.begin(), out.end(), std::byte{0});

  // The link header with its tags, addresses exchanged.
  std::memcpy(out.data(), frame.data() + kMacBytes, kMacBytes);
  std::memcpy(out.data() + kMacBytes, frame.data(), kMacBytes);
  std::memcpy(out.data() + 2 * kMacBytes, frame.data() + 2 * kMacBytes, info.l3 - 2 * kMacBytes);
  std::byte* const ip = out.data() + info.l3;
  const IpAddress to = FrameSource(frame, info);
  if (v4) {
    Store8(ip, 0x45);
    StoreBe16(ip + 2, static_cast<std::uint16_t>(header + icmp_bytes));
    Store8(ip + 8, kHopLimit);
    Store8(ip + 9, kIcmpV4);
    std::memcpy(ip + 12, source.bytes.data(), 4);
    std::memcpy(ip + 16, to.bytes.data(), 4);
    StoreBe16(ip + 10, InvertedSum(OnesSum({ip, header})));
  } else {
    Store8(ip, 0x60);
    StoreBe16(ip + 4, static_cast<std::uint16_t>(icmp_bytes));
    Store8(ip + 6, kIcmpV6);
    Store8(ip + 7, kHopLimit);
    std::memcpy(ip + 8, source.bytes.data(), 16);
    std::memcpy(ip + 24, to.bytes.data(), 16);
  }
  std::byte* const icmp = ip + header;
  const bool too_big = reason == IcmpReason::kTooBig;
  if (v4) {
    Store8(icmp, too_big ? 3 : 11);
    Store8(icmp + 1, too_big ? 4 : 0);
    if (too_big) StoreBe16(icmp + 6, static_cast<std::uint16_t>(mtu_bytes));
  } else {
    Store8(icmp, too_big ? 2 : 3);
    if (too_big) StoreBe32(icmp + 4, mtu_bytes);
  }
  std::memcpy(icmp + kIcmpHeaderBytes, frame.data() + info.l3, quoted);
  std::uint32_t sum = 0;
  if (!v4) {
    FrameInfo own = info;
    own.ip_header_bytes = static_cast<std::uint32_t>(header);
    sum = PseudoHeaderSum(out, own, kIcmpV6, icmp_bytes);
  }
  StoreBe16(icmp + 2, InvertedSum(OnesSum({icmp, icmp_bytes}, sum)));
  return info.l3 + header + icmp_bytes;
}

}  // namespace dccp::apps::netem
