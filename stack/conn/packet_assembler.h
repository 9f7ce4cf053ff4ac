// Turns header fields, options and application bytes into a packet in the transmit ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/random.h"
#include "dccp/time.h"
#include "dccp/trace.h"
#include "dccp/types.h"
#include "stack/base/slab.h"
#include "stack/conn/tx_ring.h"
#include "stack/wire/packet_writer.h"

namespace dccp {

// Room before the payload in a cell of the send queue: the largest header with options that leaves
// together with data. Options that need more go on a packet of their own. RFC 4340 §14
inline constexpr std::size_t kDataHeadroomBytes = 256;

struct AssemblerConfig {
  Slab* slab = nullptr;
  TxRing* tx = nullptr;
  TraceSink* trace = nullptr;  // may be null
  Encapsulation encapsulation = Encapsulation::kUdp;
  ConnId id;
  FlowTuple tuple;
  bool may_fragment = false;  // any packet, at the application's request. RFC 4340 §14.2
};

// Owns no packet: a finished one belongs to the ring. Ports, checksum and addresses are added here.
// In DCCP-UDP the Checksum field is sent as 0. RFC 4340 §9.1; RFC 6773 §3.3
class PacketAssembler {
 public:
  explicit PacketAssembler(const AssemblerConfig& config) : config_(config) {}

  // There is room for data and acknowledgements.
  bool Ready() const { return !config_.tx->FullForData(); }

  // A packet with the options and a copy of `payload`. False, and nothing is sent, when the ring is
  // full or no buffer is to be had.
  bool Send(HeaderFields fields, std::span<const std::byte> options,
            std::span<const std::byte> payload, Ecn ecn, TimePoint now);
  // The same with `bytes` bytes of nothing as payload.
  bool SendPadded(HeaderFields fields, std::span<const std::byte> options, std::size_t bytes,
                  Ecn ecn, TimePoint now);
  // A packet whose payload lies in `cell` with room for the header before it; takes the cell.
  void SendCell(HeaderFields fields, std::span<const std::byte> options, Cell* cell, Ecn ecn,
                TimePoint now);

 private:
  Cell* NewCell(std::size_t header_bytes, std::size_t payload_bytes);
  void Finish(const HeaderFields& fields, std::span<const std::byte> options, Cell* cell, Ecn ecn,
              TimePoint now);

  AssemblerConfig config_;
};

}  // namespace dccp
