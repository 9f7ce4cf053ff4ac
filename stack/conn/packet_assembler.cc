#include "stack/conn/packet_assembler.h"

#include <cstring>

#include "stack/base/check.h"
#include "stack/wire/checksum.h"

namespace dccp {

bool PacketAssembler::Send(HeaderFields fields, std::span<const std::byte> options,
                           std::span<const std::byte> payload, Ecn ecn, TimePoint now) {
  const std::size_t header = FixedHeaderBytes(fields.type, fields.extended) + options.size();
  Cell* cell = NewCell(header, payload.size());
  if (cell == nullptr) return false;
  if (!payload.empty()) std::memcpy(cell->data + header, payload.data(), payload.size());
  Finish(fields, options, cell, ecn, now);
  return true;
}

bool PacketAssembler::SendPadded(HeaderFields fields, std::span<const std::byte> options,
                                 std::size_t bytes, Ecn ecn, TimePoint now) {
  const std::size_t header = FixedHeaderBytes(fields.type, fields.extended) + options.size();
  Cell* cell = NewCell(header, bytes);
  if (cell == nullptr) return false;
  std::memset(cell->data + header, 0, bytes);
  Finish(fields, options, cell, ecn, now);
  return true;
}

// Null when the ring is full or no buffer is to be had.
Cell* PacketAssembler::NewCell(std::size_t header_bytes, std::size_t payload_bytes) {
  if (config_.tx->Full()) return nullptr;
  Cell* cell = config_.slab->Allocate(header_bytes + payload_bytes);
  if (cell == nullptr) return nullptr;
  cell->offset = static_cast<std::uint32_t>(header_bytes);
  cell->length = static_cast<std::uint32_t>(payload_bytes);
  return cell;
}

void PacketAssembler::SendCell(HeaderFields fields, std::span<const std::byte> options, Cell* cell,
                               Ecn ecn, TimePoint now) {
  Finish(fields, options, cell, ecn, now);
}

void PacketAssembler::Finish(const HeaderFields& fields, std::span<const std::byte> options,
                             Cell* cell, Ecn ecn, TimePoint now) {
  const std::size_t header = FixedHeaderBytes(fields.type, fields.extended) + options.size();
  DCCP_CHECK(cell->offset >= header);
  cell->offset -= static_cast<std::uint32_t>(header);
  cell->length += static_cast<std::uint32_t>(header);
  HeaderFields full = fields;
  full.source_port = config_.tuple.local_port;
  full.destination_port = config_.tuple.remote_port;
  WriteHeader(full, options, cell->bytes().first(header));
  const Path& path = config_.tuple.path;
  if (config_.encapsulation == Encapsulation::kNative) {
    const std::size_t covered = CoverageBytes(full.cscov, header, cell->length - header);
    StoreChecksum(cell->bytes(), ComputeChecksum(path.local, path.remote, cell->bytes(), covered));
  }
  // Long-lived small packets: only what is part of the handshake or ends it may be fragmented, so
  // that a connection can be set up and torn down whatever the path's MTU. RFC 4340 §14.2
  const bool may_fragment = config_.may_fragment || fields.type == PacketType::kRequest ||
                            fields.type == PacketType::kResponse ||
                            fields.type == PacketType::kReset;
  config_.tx->Push({cell, path, ecn, may_fragment});
  if (config_.trace != nullptr) {
    config_.trace->OnPacket(
        {config_.id, Direction::kSent, now, path, config_.encapsulation, cell->bytes(), ecn});
  }
}

}  // namespace dccp
