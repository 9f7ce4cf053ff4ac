// A trace sink that writes a capture file.
#pragma once

#include <cstdint>
#include <vector>

#include "dccp/trace.h"
#include "stack/trace/byte_writer.h"

namespace dccp {

// Writes each PacketEvent as a packet of a pcap file (nanosecond time stamps, LINKTYPE_RAW). It is
// always in native form: an IP header made from the path, protocol 33, then the DCCP packet. The
// header checksum of a packet that travelled in UDP is computed for that IP header, because
// DCCP-UDP carries none (RFC 6773 §3.3); a native packet is written as it was. Allocates only until
// its buffer has met the largest packet.
class PcapSink final : public TraceSink {
 public:
  // `epoch_offset` is added to the times of the events, so that the file shows times of day. The
  // writer must outlive the sink.
  explicit PcapSink(ByteWriter& writer, Duration epoch_offset = Duration::zero());

  void OnPacket(const PacketEvent& event) override;

  std::uint64_t packets_written() const { return packets_written_; }
  // Those too large for one IP packet, and all after the writer's failure.
  std::uint64_t packets_skipped() const { return packets_skipped_; }

 private:
  ByteWriter& writer_;
  Duration epoch_offset_;
  std::vector<std::byte> record_;
  std::uint64_t packets_written_ = 0;
  std::uint64_t packets_skipped_ = 0;
};

}  // namespace dccp
