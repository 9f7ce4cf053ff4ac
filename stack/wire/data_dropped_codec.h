// Blocks of the Data Dropped option. RFC 4340 §11.7
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp {

// Consecutive packets that were dropped for one reason, or were not dropped ("Normal": also those
// not received).
//
//    0 1 2 3 4 5 6 7         0 1 2 3 4 5 6 7
//   +-+-+-+-+-+-+-+-+       +-+-+-+-+-+-+-+-+
//   |0| Run Length  |   or  |1|DrpCd|Run Len|
//   +-+-+-+-+-+-+-+-+       +-+-+-+-+-+-+-+-+
//     Normal Block             Drop Block
struct DataDroppedBlock {
  bool dropped = false;
  std::uint8_t code = 0;      // Drop Code 0-7 where dropped; 4-6 are reserved
  std::uint32_t packets = 1;  // 1-128, where dropped 1-16
  friend constexpr bool operator==(const DataDroppedBlock&, const DataDroppedBlock&) = default;
};

inline constexpr std::uint32_t kMaxPacketsPerNormalBlock = 128;
inline constexpr std::uint32_t kMaxPacketsPerDropBlock = 16;
inline constexpr std::size_t kMaxBlocksPerDataDropped = 253;

constexpr std::byte EncodeDataDroppedBlock(const DataDroppedBlock& block) {
  const unsigned run = block.packets - 1;
  return block.dropped ? static_cast<std::byte>(0x80u | ((block.code & 7u) << 4) | (run & 0x0Fu))
                       : static_cast<std::byte>(run & 0x7Fu);
}
constexpr DataDroppedBlock DecodeDataDroppedBlock(std::byte b) {
  const auto v = static_cast<unsigned>(b);
  if ((v & 0x80u) == 0) return {false, 0, v + 1};
  return {true, static_cast<std::uint8_t>((v >> 4) & 7u), (v & 0x0Fu) + 1};
}

// Iterates over one option's data, newest packet first; the first block begins at the
// Acknowledgement Number, further options go on where the one before ended. RFC 4340 §11.7
class DataDroppedReader {
 public:
  explicit DataDroppedReader(std::span<const std::byte> data) : data_(data) {}

  bool Next(DataDroppedBlock* out) {
    if (at_ == data_.size()) return false;
    *out = DecodeDataDroppedBlock(data_[at_++]);
    return true;
  }

 private:
  std::span<const std::byte> data_;
  std::size_t at_ = 0;
};

// Writes blocks for a run of any length into `out` as far as they fit; returns how many bytes were
// written and lowers *packets by what they cover, to 0 where all was written.
std::size_t EncodeDataDroppedRun(bool dropped, std::uint8_t code, std::uint64_t* packets,
                                 std::span<std::byte> out);

}  // namespace dccp
