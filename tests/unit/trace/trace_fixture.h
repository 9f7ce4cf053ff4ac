// Packets and a writer for the tests of the sinks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dccp/trace.h"
#include "stack/trace/byte_writer.h"

namespace dccp {

class MemoryWriter final : public ByteWriter {
 public:
  using ByteWriter::Write;
  bool Write(std::span<const std::byte> bytes) override {
    if (fail) return false;
    for (const std::byte b : bytes) text += static_cast<char>(b);
    return true;
  }
  bool Flush() override { return !fail; }

  std::string text;
  bool fail = false;
};

inline std::vector<std::byte> Bytes(const std::vector<int>& values) {
  std::vector<std::byte> out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

// A Request: ports 5001 -> 5002, Data Offset 5, X = 1, seq 0x010203040506, service code "fdpz".
inline std::vector<std::byte> RequestPacket() {
  return Bytes({0x13, 0x89, 0x13, 0x8A, 5, 0, 0, 0, 0x01, 0, 1, 2, 3, 4, 5, 6, 'f', 'd', 'p', 'z'});
}

// A Reset, code 7: seq 2, ack 1; Data Offset 7.
inline std::vector<std::byte> ResetPacket() {
  return Bytes({0x13, 0x8A, 0x13, 0x89, 7, 0, 0, 0, 0x0F, 0, 0, 0, 0, 0,
                0,    2,    0,    0,    0, 0, 0, 0, 0,    1, 7, 0, 0, 0});
}

inline IpAddress V4(std::uint8_t last) {
  return {.family = IpFamily::kV4, .bytes = {192, 0, 2, last}};
}

inline IpAddress V6(std::uint8_t last) {
  IpAddress address{.family = IpFamily::kV6, .bytes = {0x20, 0x01, 0x0d, 0xb8}};
  address.bytes[15] = last;
  return address;
}

inline const Path kV4Path{V4(1), V4(2), 1111, 6511};
inline const Path kV6Path{V6(1), V6(2), 0, 0};
inline constexpr ConnId kConn{.index = 3, .generation = 1};
inline constexpr TimePoint kTime{std::chrono::milliseconds(1012)};

}  // namespace dccp
