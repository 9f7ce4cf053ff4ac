// Cells of the Ack Vector options. RFC 4340 §11.4
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/types.h"

namespace dccp {

enum class AckState : std::uint8_t {
  kReceived = 0,
  kMarked = 1,  // received with ECN Congestion Experienced
  kReserved = 2,
  kNotReceived = 3,
};

// One byte: two bits of state, six of run length, which covers run_length + 1 packets.
//
//    0 1 2 3 4 5 6 7
//   +-+-+-+-+-+-+-+-+
//   |Sta| Run Length|
//   +-+-+-+-+-+-+-+-+
struct AckVectorCell {
  AckState state = AckState::kReceived;
  std::uint8_t run_length = 0;  // 0-63

  constexpr std::uint32_t packets() const { return std::uint32_t{run_length} + 1; }
  friend constexpr bool operator==(const AckVectorCell&, const AckVectorCell&) = default;
};

inline constexpr std::uint32_t kMaxPacketsPerAckCell = 64;
inline constexpr std::size_t kMaxAckCellsPerOption = 253;

constexpr std::byte EncodeAckCell(AckVectorCell cell) {
  return static_cast<std::byte>((static_cast<unsigned>(cell.state) << 6) |
                                (cell.run_length & 0x3Fu));
}
constexpr AckVectorCell DecodeAckCell(std::byte b) {
  const auto v = static_cast<unsigned>(b);
  return {static_cast<AckState>(v >> 6), static_cast<std::uint8_t>(v & 0x3F)};
}

// ECN Nonce Echo of an Ack Vector option's type. RFC 4340 §12.2
constexpr unsigned NonceEcho(OptionType t) { return t == OptionType::kAckVectorNonce1 ? 1u : 0u; }
constexpr OptionType AckVectorType(unsigned nonce_echo) {
  return (nonce_echo & 1u) != 0 ? OptionType::kAckVectorNonce1 : OptionType::kAckVectorNonce0;
}

struct AckVectorRun {
  AckState state = AckState::kReceived;
  std::uint32_t packets = 0;
  friend constexpr bool operator==(const AckVectorRun&, const AckVectorRun&) = default;
};

// Iterates over the runs of one option's data, newest packet first; the first run of a packet's
// first Ack Vector begins at the Acknowledgement Number, and each option goes on where the one
// before ended. Adjacent cells of one state come as one run. RFC 4340 §11.4
class AckVectorReader {
 public:
  explicit AckVectorReader(std::span<const std::byte> data) : data_(data) {}

  bool Next(AckVectorRun* out) {
    if (at_ == data_.size()) return false;
    AckVectorCell cell = DecodeAckCell(data_[at_++]);
    AckVectorRun run = {cell.state, cell.packets()};
    while (at_ < data_.size() && (cell = DecodeAckCell(data_[at_])).state == run.state) {
      run.packets += cell.packets();
      ++at_;
    }
    *out = run;
    return true;
  }

 private:
  std::span<const std::byte> data_;
  std::size_t at_ = 0;
};

// How many packets one option's data covers.
constexpr std::uint32_t AckVectorPackets(std::span<const std::byte> data) {
  std::uint32_t n = 0;
  for (std::byte b : data) n += DecodeAckCell(b).packets();
  return n;
}

}  // namespace dccp
