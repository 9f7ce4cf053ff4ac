#include "stack/conn/stateless_reset.h"

#include "stack/base/check.h"
#include "stack/wire/checksum.h"
#include "stack/wire/header_layout.h"
#include "stack/wire/packet_writer.h"

namespace dccp {

static_assert(FixedHeaderBytes(PacketType::kReset, true) == kStatelessResetBytes);

void WriteStatelessReset(const PacketView& packet, const ResetReason& reason, const Path& path,
                         Encapsulation encapsulation,
                         std::span<std::byte, kStatelessResetBytes> out) {
  DCCP_CHECK(packet.type() != PacketType::kReset);
  HeaderFields fields;
  fields.source_port = packet.destination_port();
  fields.destination_port = packet.source_port();
  fields.type = PacketType::kReset;
  fields.reset = reason;
  fields.ack = packet.seq();
  if (packet.has_ack()) {
    const SeqNo next = packet.ack() + 1;
    fields.seq = packet.extended() ? next : SeqNo(next.low24());
  }
  WriteHeader(fields, {}, out);
  if (encapsulation == Encapsulation::kNative)
    StoreChecksum(out, ComputeChecksum(path.local, path.remote, out, out.size()));
}

}  // namespace dccp
