// Writes packet headers. RFC 4340 §5
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/seqno.h"
#include "dccp/service_code.h"
#include "dccp/types.h"
#include "stack/wire/header_layout.h"

namespace dccp {

// Fields that the type lacks are ignored.
struct HeaderFields {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t ccval = 0;  // 0-15
  std::uint8_t cscov = 0;  // 0-15
  PacketType type = PacketType::kData;
  bool extended = true;  // false only where MayUseShortSeqno(type)
  SeqNo seq;
  SeqNo ack;
  ServiceCode service_code;
  ResetReason reset;
};

// Writes the fixed header and the options into `out`, whose size is FixedHeaderBytes(type,
// extended)
// + options.size(), a multiple of 4 of at most kMaxHeaderBytes (use OptionWriter::Pad). Reserved
// bits and the Checksum field become 0. `options` may already lie at their place in `out`: they are
// then not copied. RFC 4340 §5.1
void WriteHeader(const HeaderFields& fields, std::span<const std::byte> options,
                 std::span<std::byte> out);

// `packet` is at least a header.
void StoreChecksum(std::span<std::byte> packet, std::uint16_t checksum);

}  // namespace dccp
