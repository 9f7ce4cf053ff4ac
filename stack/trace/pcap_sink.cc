#include "stack/trace/pcap_sink.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <ratio>

#include "stack/base/byte_order.h"
#include "stack/wire/checksum.h"
#include "stack/wire/packet_view.h"

namespace dccp {

namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xA1B23C4D;
constexpr std::uint32_t kSnapLength = 262144;
constexpr std::uint32_t kLinkTypeRaw = 101;
constexpr std::size_t kRecordHeaderBytes = 16;
constexpr std::size_t kIpv4HeaderBytes = 20;
constexpr std::size_t kIpv6HeaderBytes = 40;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::size_t kMaxIpLength = 0xFFFF;
constexpr std::size_t kDccpChecksumOffset = 6;

// pcap is in the byte order of its writer; the file is little-endian on every machine, so that
// equal runs give equal files.
void StoreLe32(std::byte* p, std::uint32_t v) {
  for (std::size_t i = 0; i < 4; ++i) p[i] = static_cast<std::byte>(v >> (8 * i) & 0xFF);
}

void CopyAddress(std::byte* p, const IpAddress& address) {
  std::memcpy(p, address.bytes.data(), address.size());
}

// RFC 791 §3.1
void WriteIpv4Header(std::byte* p, const IpAddress& src, const IpAddress& dst, Ecn ecn,
                     std::size_t dccp_bytes) {
  std::fill_n(p, kIpv4HeaderBytes, std::byte{0});
  Store8(p, 0x45);
  Store8(p + 1, static_cast<std::uint8_t>(ecn));
  StoreBe16(p + 2, static_cast<std::uint16_t>(kIpv4HeaderBytes + dccp_bytes));
  StoreBe16(p + 6, 0x4000);  // Don't Fragment
  Store8(p + 8, kHopLimit);
  Store8(p + 9, kProtocolNumber);
  CopyAddress(p + 12, src);
  CopyAddress(p + 16, dst);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kIpv4HeaderBytes; i += 2) sum += LoadBe16(p + i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  StoreBe16(p + 10, static_cast<std::uint16_t>(~sum));
}

// RFC 8200 §3
void WriteIpv6Header(std::byte* p, const IpAddress& src, const IpAddress& dst, Ecn ecn,
                     std::size_t dccp_bytes) {
  StoreBe32(p, 0x60000000u | static_cast<std::uint32_t>(ecn) << 20);
  StoreBe16(p + 4, static_cast<std::uint16_t>(dccp_bytes));
  Store8(p + 6, kProtocolNumber);
  Store8(p + 7, kHopLimit);
  CopyAddress(p + 8, src);
  CopyAddress(p + 24, dst);
}

// Leaves alone what is no valid packet: there is no telling what its checksum covers.
void WriteDccpChecksum(std::span<std::byte> dccp, const IpAddress& src, const IpAddress& dst) {
  PacketView view;
  if (PacketView::Parse(dccp, &view, {.allow_listen = true}) != ParseError::kNone) return;
  StoreBe16(dccp.data() + kDccpChecksumOffset,
            ComputeChecksum(src, dst, dccp, view.covered_bytes()));
}

}  // namespace

PcapSink::PcapSink(ByteWriter& writer, Duration epoch_offset)
    : writer_(writer), epoch_offset_(epoch_offset) {
  std::array<std::byte, 24> header = {};
  StoreLe32(header.data(), kMagicNanoseconds);
  StoreLe32(header.data() + 4, 2 | 4u << 16);  // version 2.4
  StoreLe32(header.data() + 16, kSnapLength);
  StoreLe32(header.data() + 20, kLinkTypeRaw);
  writer_.Write(header);
}

void PcapSink::OnPacket(const PacketEvent& event) {
  const bool sent = event.direction == Direction::kSent;
  const IpAddress& src = sent ? event.path.local : event.path.remote;
  const IpAddress& dst = sent ? event.path.remote : event.path.local;
  const bool v4 = event.path.remote.family == IpFamily::kV4;
  const std::size_t ip_bytes = v4 ? kIpv4HeaderBytes : kIpv6HeaderBytes;
  const std::size_t dccp_bytes = event.dccp_bytes.size();
  if (dccp_bytes + (v4 ? kIpv4HeaderBytes : 0) > kMaxIpLength) {
    ++packets_skipped_;
    return;
  }
  record_.resize(kRecordHeaderBytes + ip_bytes + dccp_bytes);

  constexpr std::int64_t kNanosecondsPerSecond = std::nano::den;
  const std::int64_t ns =
      std::max<std::int64_t>((event.time.time_since_epoch() + epoch_offset_).count(), 0);
  StoreLe32(record_.data(), static_cast<std::uint32_t>(ns / kNanosecondsPerSecond));
  StoreLe32(record_.data() + 4, static_cast<std::uint32_t>(ns % kNanosecondsPerSecond));
  const auto length = static_cast<std::uint32_t>(ip_bytes + dccp_bytes);
  StoreLe32(record_.data() + 8, length);
  StoreLe32(record_.data() + 12, length);

  std::byte* ip = record_.data() + kRecordHeaderBytes;
  (v4 ? WriteIpv4Header : WriteIpv6Header)(ip, src, dst, event.ecn, dccp_bytes);
  const std::span<std::byte> dccp(ip + ip_bytes, dccp_bytes);
  std::copy(event.dccp_bytes.begin(), event.dccp_bytes.end(), dccp.begin());
  if (event.encapsulation == Encapsulation::kUdp) WriteDccpChecksum(dccp, src, dst);

  ++(writer_.Write(record_) ? packets_written_ : packets_skipped_);
}

}  // namespace dccp
