#include "apps/dccp-dump/packet.h"

#include <algorithm>

#include "stack/base/byte_order.h"
#include "stack/wire/checksum.h"

namespace dccp::apps {

namespace {

constexpr std::uint8_t kUdpProtocol = 17;

// The ones' complement sum of 16-bit words, not complemented.
std::uint64_t SumWords(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2) sum += LoadBe16(bytes.data() + i);
  if (i < bytes.size()) sum += std::uint64_t{Load8(bytes.data() + i)} << 8;
  return sum;
}

bool UdpChecksumGood(const IpPacket& ip, std::span<const std::byte> udp) {
  std::uint64_t sum = kUdpProtocol + udp.size() + SumWords(udp);
  for (const IpAddress* a : {&ip.src, &ip.dst})
    sum += SumWords(std::as_bytes(std::span(a->bytes).first(a->size())));
  while ((sum >> 16) != 0) sum = (sum & 0xFFFFu) + (sum >> 16);
  return sum == 0xFFFFu;
}

}  // namespace

const char* ToString(ChecksumVerdict verdict) {
  switch (verdict) {
    case ChecksumVerdict::kGood:
      return "good";
    case ChecksumVerdict::kBad:
      return "bad";
    case ChecksumVerdict::kZero:
      return "zero";
    case ChecksumVerdict::kUnverified:
      return "unverified";
  }
  return "?";
}

bool PacketDecoder::Decode(const CapturedFrame& frame, DumpPacket* out) {
  *out = {};
  out->number = frame.number;
  out->time_ns = frame.time_ns;
  const std::span<const std::byte> network = StripLinkLayer(frame.link_type, frame.bytes);
  if (!ParseIp(network, &out->ip) || out->ip.later_fragment) return false;
  if (out->ip.protocol == kProtocolNumber) {
    out->dccp = out->ip.payload;
    out->dccp_bytes = out->ip.payload_bytes;
  } else if (out->ip.protocol != kUdpProtocol || !UnwrapUdp(out)) {
    return false;
  }
  out->truncated = out->dccp.size() < out->dccp_bytes;
  ParseDccp(out);
  return true;
}

bool PacketDecoder::UnwrapUdp(DumpPacket* out) {
  const std::span<const std::byte> udp = out->ip.payload;
  if (udp.size() < 8) return false;
  out->udp = true;
  out->udp_src = LoadBe16(udp.data());
  out->udp_dst = LoadBe16(udp.data() + 2);
  const auto is_ours = [this](std::uint16_t port) {
    return std::find(udp_ports_.begin(), udp_ports_.end(), port) != udp_ports_.end();
  };
  if (!is_ours(out->udp_src) && !is_ours(out->udp_dst)) return false;
  std::size_t length = LoadBe16(udp.data() + 4);
  if (length < 8 || length > out->ip.payload_bytes) length = out->ip.payload_bytes;
  out->dccp_bytes = length - 8;
  out->dccp = udp.subspan(8, std::min(udp.size(), length) - 8);
  if (LoadBe16(udp.data() + 6) == 0) {
    out->checksum = ChecksumVerdict::kZero;
  } else if (udp.size() >= length && !out->ip.first_fragment) {
    out->checksum = UdpChecksumGood(out->ip, udp.first(length)) ? ChecksumVerdict::kGood
                                                                : ChecksumVerdict::kBad;
  }
  return true;
}

void PacketDecoder::ParseDccp(DumpPacket* out) {
  std::span<const std::byte> bytes = out->dccp;
  if (out->truncated && bytes.size() >= kMinPacketBytes) {
    // A header that was captured whole parses as it did on the wire.
    const std::size_t header = std::size_t{Load8(bytes.data() + 4)} * 4;
    if (header <= bytes.size()) {
      padded_.assign(out->dccp_bytes, std::byte{0});
      std::copy(bytes.begin(), bytes.end(), padded_.begin());
      bytes = padded_;
    }
  }
  out->parse_error = PacketView::Parse(bytes, &out->view, {.allow_listen = true});
  if (!out->udp) VerifyChecksum(out);
}

void PacketDecoder::VerifyChecksum(DumpPacket* out) const {
  if (out->ip.first_fragment || out->parse_error != ParseError::kNone) return;
  if (out->truncated && out->view.covered_bytes() > out->dccp.size()) return;
  out->checksum = dccp::VerifyChecksum(out->ip.src, out->ip.dst, out->view) ? ChecksumVerdict::kGood
                                                                            : ChecksumVerdict::kBad;
}

}  // namespace dccp::apps
