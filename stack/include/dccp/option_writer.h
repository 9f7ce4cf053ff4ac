// Writes options into a fixed buffer. RFC 4340 §5.8
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/export.h"
#include "dccp/types.h"

namespace dccp {

// Owns nothing: writes into the caller's buffer (at most 1008 bytes of it, the largest option area
// there is, and whole 32-bit words only, so that Pad always has room). Each Add writes a whole
// option or nothing: false means that it did not fit. Values are written big-endian. RFC 4340 §5.8
class DCCP_EXPORT OptionWriter {
 public:
  static constexpr std::size_t kMaxBytes = 1008;

  explicit OptionWriter(std::span<std::byte> buffer)
      : buffer_(buffer.first((buffer.size() < kMaxBytes ? buffer.size() : kMaxBytes) &
                             ~std::size_t{3})) {}

  // Any single-byte option (type below 32).
  bool AddByte(OptionType type);
  // Any option of type 32 and above; more than 253 bytes of data never fit.
  bool Add(OptionType type, std::span<const std::byte> data);
  // Room for an option with `data_bytes` (1-253) of data that the caller fills at once; empty: no
  // room.
  std::span<std::byte> Reserve(OptionType type, std::size_t data_bytes);

  // An option with a big-endian integer of `value_bytes` (1-8) bytes.
  bool AddInteger(OptionType type, std::uint64_t value, std::size_t value_bytes);
  // Change or Confirm: feature number and value bytes, all written or none; with `mandatory` a
  // Mandatory option goes directly before it.
  bool AddFeature(OptionType type, FeatureNumber feature, std::span<const std::byte> value,
                  bool mandatory);

  // Pads with Padding to a multiple of `quantum` bytes (a multiple of 4) as far as the buffer goes,
  // and to a multiple of 4 always.
  void Pad(std::size_t quantum = 4);

  std::size_t size() const { return size_; }
  std::size_t remaining() const { return buffer_.size() - size_; }
  std::span<const std::byte> bytes() const { return buffer_.first(size_); }
  // Returns to an earlier size(), dropping what was written since.
  void Rewind(std::size_t size) { size_ = size; }

 private:
  std::span<std::byte> buffer_;
  std::size_t size_ = 0;
};

}  // namespace dccp
