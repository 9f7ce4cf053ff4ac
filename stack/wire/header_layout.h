// Sizes and offsets of the DCCP header. RFC 4340 §5.1
//
//      0                   1                   2                   3
//      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   0 |          Source Port          |           Dest Port           |
//   4 |  Data Offset  | CCVal | CsCov |           Checksum            |
//   8 | Res | Type  |1|   Reserved    |  Sequence Number (high bits)  .
//  12 .                  Sequence Number (low bits)                   |
//     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// with X = 1; with X = 0 the third word is the last:
//
//   8 | Res | Type  |0|          Sequence Number (low bits)           |
//
// Then follow, by type, the acknowledgement subheader (X = 1: 16 reserved bits and 48 bits; X = 0:
// 8 reserved bits and 24 bits) and four bytes of Service Code or of Reset Code and data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dccp/types.h"

namespace dccp {

// Data Offset is one byte of 32-bit words: the longest header, options included.
inline constexpr std::size_t kMaxHeaderBytes = 1020;
// The shortest packet that can be one. RFC 4340 §8.5
inline constexpr std::size_t kMinPacketBytes = 12;
// Request, Response, Reset and Listen end their fixed part with four bytes of their own.
inline constexpr std::size_t kTypeFieldBytes = 4;

constexpr bool HasServiceCode(PacketType t) {
  return t == PacketType::kRequest || t == PacketType::kResponse || t == PacketType::kListen;
}

constexpr std::size_t GenericHeaderBytes(bool extended) { return extended ? 16 : 12; }
constexpr std::size_t AckSubheaderBytes(bool extended) { return extended ? 8 : 4; }

// The header without options. Types that must be extended are given a size for X = 0 too, by the
// same rule, so that a received one can be judged. RFC 4340 §5
constexpr std::size_t FixedHeaderBytes(PacketType type, bool extended) {
  std::size_t n = GenericHeaderBytes(extended);
  if (HasAckNumber(type)) n += AckSubheaderBytes(extended);
  if (HasServiceCode(type) || type == PacketType::kReset) n += kTypeFieldBytes;
  return n;
}

}  // namespace dccp
