#include "apps/dccp-netem/segments.h"

#include <algorithm>
#include <cstring>

#include "stack/base/byte_order.h"
#include "stack/base/internet_checksum.h"

namespace dccp::apps::netem {

namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;
constexpr std::size_t kUdpHeaderBytes = 8;
constexpr std::size_t kMinTcpBytes = 20;
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kPsh = 0x08;
constexpr std::uint8_t kCwr = 0x80;

std::uint16_t Low16(std::size_t v) { return static_cast<std::uint16_t>(v); }

}  // namespace

Segments::Segments(std::span<const std::byte> frame, std::size_t segment_bytes)
    : frame_(frame), segment_bytes_(segment_bytes) {
  const std::optional<FrameInfo> info = ReadFrame(frame);
  if (!info || !info->family || segment_bytes == 0 || info->later_fragment) return;
  info_ = *info;
  transport_ = info_.l3 + info_.ip_header_bytes;
  const std::size_t end = info_.l3 + info_.ip_bytes;
  std::size_t transport_header = kUdpHeaderBytes;
  if (info_.protocol == kTcp) {
    if (transport_ + kMinTcpBytes > end) return;
    transport_header = (Load8(frame.data() + transport_ + 12) >> 4) * std::size_t{4};
    if (transport_header < kMinTcpBytes) return;
  } else if (info_.protocol != kUdp) {
    return;
  }
  headers_ = transport_ + transport_header;
  if (headers_ >= end) return;
  payload_ = end - headers_;
  count_ = (payload_ + segment_bytes - 1) / segment_bytes;
}

std::size_t Segments::PayloadBytes(std::size_t i) const {
  return std::min(segment_bytes_, payload_ - i * segment_bytes_);
}

void Segments::Write(std::size_t i, std::span<std::byte> out) const {
  const std::size_t payload = PayloadBytes(i);
  std::memcpy(out.data(), frame_.data(), headers_);
  std::memcpy(out.data() + headers_, frame_.data() + headers_ + i * segment_bytes_, payload);
  std::byte* const ip = out.data() + info_.l3;
  std::byte* const transport = out.data() + transport_;
  const std::size_t transport_bytes = headers_ - transport_ + payload;
  if (*info_.family == IpFamily::kV4) {
    StoreBe16(ip + 2, Low16(info_.ip_header_bytes + transport_bytes));
    StoreBe16(ip + 4, Low16(LoadBe16(ip + 4) + i));
    StoreBe16(ip + 10, 0);
    StoreBe16(ip + 10, InvertedSum(OnesSum(out.subspan(info_.l3, info_.ip_header_bytes))));
  } else {
    StoreBe16(ip + 4, Low16(transport_bytes));
  }
  std::size_t checksum_at = 6;
  if (info_.protocol == kTcp) {
    checksum_at = 16;
    StoreBe32(transport + 4,
              LoadBe32(transport + 4) + static_cast<std::uint32_t>(i * segment_bytes_));
    std::uint8_t flags = Load8(transport + 13);
    // What tells of the end belongs to the last, the answer to a mark to the first.
    if (i + 1 != count_) flags &= static_cast<std::uint8_t>(~(kFin | kPsh));
    if (i != 0) flags &= static_cast<std::uint8_t>(~kCwr);
    Store8(transport + 13, flags);
  } else {
    StoreBe16(transport + 4, Low16(transport_bytes));
  }
  StoreBe16(transport + checksum_at, 0);
  std::uint16_t checksum =
      InvertedSum(OnesSum(out.subspan(transport_, transport_bytes),
                          PseudoHeaderSum(out, info_, info_.protocol, transport_bytes)));
  if (checksum == 0 && info_.protocol == kUdp) checksum = 0xFFFF;
  StoreBe16(transport + checksum_at, checksum);
}

}  // namespace dccp::apps::netem
