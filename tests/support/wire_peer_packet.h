// Packets as a test writes them and as it sees them come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dccp/endpoint.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// For GoogleTest's messages.
void PrintTo(PacketType type, std::ostream* out);
void PrintTo(State state, std::ostream* out);
void PrintTo(OptionType type, std::ostream* out);
void PrintTo(ResetCode code, std::ostream* out);

namespace peer {

using Bytes = std::vector<std::byte>;
using Octets = std::vector<std::uint8_t>;

// A packet that the test sends. Start from one of the functions below and add what differs:
//
//   Ack(5001, 1000).With({41, 6, 0, 0, 0, 9}).Marked(Ecn::kCe)
struct PacketSpec {
  PacketType type = PacketType::kData;
  std::uint64_t seq = 0;
  std::uint64_t ack = 0;
  bool extended = true;
  std::uint8_t ccval = 0;
  std::uint8_t cscov = 0;
  Octets options;  // padded to whole words at the end
  std::string payload;
  std::uint32_t service_code = 0;
  ResetReason reset;
  Ecn ecn = Ecn::kNotEct;

  PacketSpec With(const Octets& more) const {
    PacketSpec out = *this;
    out.options.insert(out.options.end(), more.begin(), more.end());
    return out;
  }
  PacketSpec Payload(std::string_view bytes) const {
    PacketSpec out = *this;
    out.payload = bytes;
    return out;
  }
  PacketSpec Short() const {
    PacketSpec out = *this;
    out.extended = false;
    return out;
  }
  PacketSpec Coverage(std::uint8_t cscov_value) const {
    PacketSpec out = *this;
    out.cscov = cscov_value;
    return out;
  }
  PacketSpec CcVal(std::uint8_t value) const {
    PacketSpec out = *this;
    out.ccval = value;
    return out;
  }
  PacketSpec Service(std::uint32_t code) const {
    PacketSpec out = *this;
    out.service_code = code;
    return out;
  }
  PacketSpec Marked(Ecn bits) const {
    PacketSpec out = *this;
    out.ecn = bits;
    return out;
  }
};

inline PacketSpec Make(PacketType type, std::uint64_t seq, std::uint64_t ack = 0) {
  PacketSpec out;
  out.type = type;
  out.seq = seq;
  out.ack = ack;
  return out;
}
inline PacketSpec Request(std::uint64_t seq) { return Make(PacketType::kRequest, seq); }
inline PacketSpec Response(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kResponse, seq, ack);
}
inline PacketSpec Data(std::uint64_t seq, std::string_view payload) {
  return Make(PacketType::kData, seq).Payload(payload);
}
inline PacketSpec Ack(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kAck, seq, ack);
}
inline PacketSpec DataAck(std::uint64_t seq, std::uint64_t ack, std::string_view payload) {
  return Make(PacketType::kDataAck, seq, ack).Payload(payload);
}
inline PacketSpec CloseReq(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kCloseReq, seq, ack);
}
inline PacketSpec Close(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kClose, seq, ack);
}
inline PacketSpec Reset(std::uint64_t seq, std::uint64_t ack, unsigned code) {
  PacketSpec out = Make(PacketType::kReset, seq, ack);
  out.reset.code = static_cast<ResetCode>(code);
  return out;
}
inline PacketSpec Sync(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kSync, seq, ack);
}
inline PacketSpec SyncAck(std::uint64_t seq, std::uint64_t ack) {
  return Make(PacketType::kSyncAck, seq, ack);
}

struct WireOption {
  OptionType type;
  bool mandatory = false;
  Octets data;
  friend bool operator==(const WireOption&, const WireOption&) = default;
};

// A packet that the endpoint sent, decoded.
struct SentPacket {
  TimePoint time;
  PacketType type = PacketType::kData;
  std::uint64_t seq = 0;
  std::optional<std::uint64_t> ack;
  bool extended = true;
  std::uint8_t ccval = 0;
  std::uint8_t cscov = 0;
  std::vector<WireOption> options;  // Padding left out
  std::string payload;
  std::uint32_t service_code = 0;
  ResetReason reset;
  Ecn ecn = Ecn::kNotEct;
  bool may_fragment = false;
  bool checksum_good = true;  // in DCCP-UDP: the field is 0
  Path path;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  Bytes bytes;

  // The first option of that type; null: none.
  const WireOption* Find(OptionType option) const;
};

void PrintTo(const WireOption& option, std::ostream* out);
void PrintTo(const SentPacket& packet, std::ostream* out);

// The bytes of `spec` between these ports, with a good checksum where `path` (as the endpoint sees
// it) is given.
Bytes Build(const PacketSpec& spec, std::uint16_t source_port, std::uint16_t destination_port,
            const Path* path);
SentPacket Decode(const OutboundDatagram& datagram, Encapsulation encapsulation, TimePoint time);

// The Confirms that accept every Change of `packet`: of a list its first value.
Octets ConfirmsFor(const SentPacket& packet);

}  // namespace peer
}  // namespace dccp
