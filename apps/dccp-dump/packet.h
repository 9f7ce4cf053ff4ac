// One captured DCCP packet, found in a frame and parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/common/capture_file.h"
#include "apps/common/ip_packet.h"
#include "dccp/seqno.h"
#include "dccp/types.h"
#include "stack/wire/packet_view.h"

namespace dccp::apps {

enum class ChecksumVerdict : std::uint8_t {
  kGood,
  kBad,
  kZero,        // a UDP checksum of 0, which DCCP-UDP forbids. RFC 6773 §3.3
  kUnverified,  // the capture cut the packet short, or it is a fragment
};
const char* ToString(ChecksumVerdict verdict);

// What dccp-dump knows of one packet. Spans lie in the capture's buffer, or in padded storage of
// the decoder's where the capture cut the packet short.
struct DumpPacket {
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  IpPacket ip;
  bool udp = false;
  std::uint16_t udp_src = 0;
  std::uint16_t udp_dst = 0;
  bool truncated = false;           // fewer bytes captured than the packet had
  std::size_t dccp_bytes = 0;       // on the wire, header included
  std::span<const std::byte> dccp;  // as captured
  ParseError parse_error = ParseError::kNone;
  PacketView view;  // where parse_error is kNone
  ChecksumVerdict checksum = ChecksumVerdict::kUnverified;
  // Filled by the tracker: 48-bit numbers, extended from 24 bits where the flow is known.
  SeqNo seq;
  SeqNo ack;
  bool extended_numbers = false;     // seq and ack are whole
  CcidId forward_ccid = CcidId::k2;  // of the data that this packet's sender sends
  CcidId reverse_ccid = CcidId::k2;
  std::vector<std::string> violations;
};

// Finds DCCP in frames: IP protocol 33, and UDP datagrams of the given ports.
class PacketDecoder {
 public:
  explicit PacketDecoder(std::vector<std::uint16_t> udp_ports) : udp_ports_(std::move(udp_ports)) {}

  // False where the frame holds no DCCP packet. The result is valid until the next call.
  bool Decode(const CapturedFrame& frame, DumpPacket* out);

 private:
  bool UnwrapUdp(DumpPacket* out);
  void ParseDccp(DumpPacket* out);
  void VerifyChecksum(DumpPacket* out) const;

  std::vector<std::uint16_t> udp_ports_;
  std::vector<std::byte> padded_;
};

}  // namespace dccp::apps
