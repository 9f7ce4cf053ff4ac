#include "stack/wire/packet_writer.h"

#include <algorithm>

#include "stack/base/byte_order.h"
#include "stack/base/check.h"

namespace dccp {
namespace {

constexpr std::size_t kChecksumOffset = 6;

void WriteSequenceNumbers(const HeaderFields& f, std::byte* p) {
  if (f.extended) {
    Store8(p + 9, 0);
    StoreBe48(p + 10, f.seq.value());
    if (!HasAckNumber(f.type)) return;
    StoreBe16(p + 16, 0);
    StoreBe48(p + 18, f.ack.value());
  } else {
    StoreBe24(p + 9, f.seq.low24());
    if (!HasAckNumber(f.type)) return;
    Store8(p + 12, 0);
    StoreBe24(p + 13, f.ack.low24());
  }
}

void WriteTypeField(const HeaderFields& f, std::byte* p) {
  if (HasServiceCode(f.type)) {
    StoreBe32(p, f.service_code.value());
  } else if (f.type == PacketType::kReset) {
    Store8(p, static_cast<std::uint8_t>(f.reset.code));
    for (std::size_t i = 0; i < f.reset.data.size(); ++i) Store8(p + 1 + i, f.reset.data[i]);
  }
}

}  // namespace

void WriteHeader(const HeaderFields& fields, std::span<const std::byte> options,
                 std::span<std::byte> out) {
  const std::size_t fixed = FixedHeaderBytes(fields.type, fields.extended);
  DCCP_CHECK(fields.extended || MayUseShortSeqno(fields.type));
  DCCP_CHECK(fields.ccval < 16 && fields.cscov < 16);
  DCCP_CHECK(options.size() % 4 == 0 && out.size() == fixed + options.size());
  DCCP_CHECK(out.size() <= kMaxHeaderBytes);

  std::byte* p = out.data();
  if (!options.empty() && options.data() != p + fixed)
    std::copy(options.begin(), options.end(), p + fixed);
  StoreBe16(p, fields.source_port);
  StoreBe16(p + 2, fields.destination_port);
  Store8(p + 4, static_cast<std::uint8_t>(out.size() / 4));
  Store8(p + 5, static_cast<std::uint8_t>((fields.ccval << 4) | fields.cscov));
  StoreBe16(p + kChecksumOffset, 0);
  Store8(p + 8, static_cast<std::uint8_t>((static_cast<unsigned>(fields.type) << 1) |
                                          (fields.extended ? 1u : 0u)));
  WriteSequenceNumbers(fields, p);
  WriteTypeField(fields, p + fixed - kTypeFieldBytes);
}

void StoreChecksum(std::span<std::byte> packet, std::uint16_t checksum) {
  DCCP_CHECK(packet.size() >= kMinPacketBytes);
  StoreBe16(packet.data() + kChecksumOffset, checksum);
}

}  // namespace dccp
