// What the tests of the wire layer share: bytes from hex, captured packets, and a reader that
// touches everything a packet holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dccp/seqno.h"
#include "dccp/types.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// For GoogleTest's messages.
inline void PrintTo(ParseError error, std::ostream* out) { *out << ToString(error); }

}  // namespace dccp

namespace dccp::wire_testing {

using Bytes = std::vector<std::byte>;

// Ignores spaces; ends the test run on anything else that is no pair of hexadecimal digits.
Bytes FromHex(std::string_view hex);
std::string ToHex(std::span<const std::byte> bytes);
Bytes ToBytes(std::initializer_list<unsigned> values);

IpAddress V4(unsigned a, unsigned b, unsigned c, unsigned d);
IpAddress V6(std::string_view hex);

// A line of tests/data/linux61_*.txt.
struct CapturedPacket {
  std::string type;
  IpAddress source;
  IpAddress destination;
  std::uint64_t seq;  // as tshark decodes it, as are the type and `ack`
  std::optional<std::uint64_t> ack;
  Bytes header;  // with options
  Bytes bytes;   // header and application data
};
std::vector<CapturedPacket> ReadCapture(const std::string& file);
// Both files of captured packets.
std::vector<CapturedPacket> AllCaptured();

// The option types of a packet and how many of each its decoder took.
struct Decoded {
  std::map<OptionType, int> taken;
  std::map<OptionType, int> refused;
  bool malformed = false;
  std::uint64_t digest = 0;  // depends on every byte that was read
};
// Calls every accessor and every decoder that fits.
Decoded DecodeEverything(const PacketView& packet);

// Parses and, where that works, decodes everything, from an allocation of exactly this size.
ParseError ParseExactly(std::span<const std::byte> bytes, Decoded* decoded = nullptr);

}  // namespace dccp::wire_testing
