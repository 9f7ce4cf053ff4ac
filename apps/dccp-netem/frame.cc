#include "apps/dccp-netem/frame.h"

#include <algorithm>
#include <cstring>

#include "stack/base/byte_order.h"
#include "stack/base/internet_checksum.h"

namespace dccp::apps::netem {

namespace {

constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint16_t kTypeIpv6 = 0x86DD;
constexpr std::size_t kMinIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kOffsetMask = 0x1FFF;
constexpr std::uint8_t kFragmentHeader = 44;

bool IsVlan(std::uint16_t type) { return type == 0x8100 || type == 0x88A8; }

void ReadIpv4(std::span<const std::byte> ip, FrameInfo* info) {
  if (ip.size() < kMinIpv4Bytes || Load8(ip.data()) >> 4 != 4) return;
  const std::size_t header = (Load8(ip.data()) & 0x0Fu) * 4;
  const std::size_t total = LoadBe16(ip.data() + 2);
  if (header < kMinIpv4Bytes || total < header || total > ip.size()) return;
  const std::uint16_t fragment = LoadBe16(ip.data() + 6);
  info->family = IpFamily::kV4;
  info->ip_header_bytes = static_cast<std::uint32_t>(header);
  info->ip_bytes = static_cast<std::uint32_t>(total);
  info->protocol = Load8(ip.data() + 9);
  info->dont_fragment = (fragment & kDontFragment) != 0;
  info->later_fragment = (fragment & kOffsetMask) != 0;
}

void ReadIpv6(std::span<const std::byte> ip, FrameInfo* info) {
  if (ip.size() < kIpv6Bytes || Load8(ip.data()) >> 4 != 6) return;
  const std::size_t total = kIpv6Bytes + LoadBe16(ip.data() + 4);
  if (total > ip.size()) return;
  info->family = IpFamily::kV6;
  info->ip_header_bytes = kIpv6Bytes;
  info->ip_bytes = static_cast<std::uint32_t>(total);
  info->protocol = Load8(ip.data() + 6);
  info->dont_fragment = true;
  info->later_fragment = info->protocol == kFragmentHeader && total >= kIpv6Bytes + 8 &&
                         (LoadBe16(ip.data() + kIpv6Bytes + 2) & 0xFFF8u) != 0;
}

// A 16-bit word of an IPv4 header changes. RFC 1624 §3, equation 3
void UpdateChecksum(std::byte* ip, std::uint16_t before, std::uint16_t after) {
  std::uint32_t sum = static_cast<std::uint16_t>(~LoadBe16(ip + 10));
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  StoreBe16(ip + 10, InvertedSum(sum));
}

IpAddress ReadAddress(const std::byte* at, IpFamily family) {
  IpAddress out;
  out.family = family;
  std::memcpy(out.bytes.data(), at, out.size());
  return out;
}

}  // namespace

std::optional<FrameInfo> ReadFrame(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetBytes) return std::nullopt;
  FrameInfo info;
  std::size_t type_at = kEthernetBytes - 2;
  while (IsVlan(LoadBe16(frame.data() + type_at)) && frame.size() >= type_at + 2 + kVlanTagBytes)
    type_at += kVlanTagBytes;
  info.l3 = static_cast<std::uint32_t>(type_at + 2);
  const std::uint16_t type = LoadBe16(frame.data() + type_at);
  if (type == kTypeIpv4) ReadIpv4(frame.subspan(info.l3), &info);
  if (type == kTypeIpv6) ReadIpv6(frame.subspan(info.l3), &info);
  return info;
}

IpAddress FrameSource(std::span<const std::byte> frame, const FrameInfo& info) {
  return ReadAddress(frame.data() + info.l3 + (*info.family == IpFamily::kV4 ? 12 : 8),
                     *info.family);
}

IpAddress FrameDestination(std::span<const std::byte> frame, const FrameInfo& info) {
  return ReadAddress(frame.data() + info.l3 + (*info.family == IpFamily::kV4 ? 16 : 24),
                     *info.family);
}

Ecn FrameEcn(std::span<const std::byte> frame, const FrameInfo& info) {
  if (!info.family) return Ecn::kNotEct;
  const std::uint8_t byte = Load8(frame.data() + info.l3 + 1);
  return static_cast<Ecn>(*info.family == IpFamily::kV4 ? byte & 3u : byte >> 4 & 3u);
}

void SetFrameEcn(std::span<std::byte> frame, const FrameInfo& info, Ecn ecn) {
  if (!info.family) return;
  std::byte* const ip = frame.data() + info.l3;
  const std::uint16_t before = LoadBe16(ip);
  const auto bits = static_cast<unsigned>(ecn);
  if (*info.family == IpFamily::kV4) {
    const auto after = static_cast<std::uint16_t>((before & ~3u) | bits);
    StoreBe16(ip, after);
    UpdateChecksum(ip, before, after);
  } else {
    StoreBe16(ip, static_cast<std::uint16_t>((before & ~0x30u) | bits << 4));
  }
}

bool DecrementHopLimit(std::span<std::byte> frame, const FrameInfo& info) {
  std::byte* const ip = frame.data() + info.l3;
  const bool v4 = *info.family == IpFamily::kV4;
  std::byte* const at = ip + (v4 ? 8 : 7);
  const std::uint8_t limit = Load8(at);
  if (limit <= 1) return false;
  const std::uint16_t before = LoadBe16(ip + 8);
  Store8(at, static_cast<std::uint8_t>(limit - 1));
  if (v4) UpdateChecksum(ip, before, LoadBe16(ip + 8));
  return true;
}

std::uint32_t PseudoHeaderSum(std::span<const std::byte> frame, const FrameInfo& info,
                              std::uint8_t protocol, std::size_t transport_bytes) {
  const bool v4 = *info.family == IpFamily::kV4;
  const std::size_t at = info.l3 + (v4 ? 12u : 8u);
  const std::uint32_t sum = OnesSum(frame.subspan(at, v4 ? 8 : 32));
  return sum + protocol + static_cast<std::uint32_t>(transport_bytes >> 16) +
         static_cast<std::uint32_t>(transport_bytes & 0xFFFF);
}

void CompleteChecksum(std::span<std::byte> frame, const FrameInfo& info, std::size_t start,
                      std::size_t offset) {
  // Padding behind the packet is none of it.
  const std::size_t end =
      info.family ? std::min<std::size_t>(frame.size(), info.l3 + info.ip_bytes) : frame.size();
  if (start + offset + 2 > end) return;
  std::uint16_t checksum = InvertedSum(OnesSum(frame.subspan(start, end - start)));
  // A UDP checksum of 0 says that there is none. RFC 768
  if (checksum == 0) checksum = 0xFFFF;
  StoreBe16(frame.data() + start + offset, checksum);
}

}  // namespace dccp::apps::netem
