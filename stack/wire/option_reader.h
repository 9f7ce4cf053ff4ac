// Iterates over the option area of a header. RFC 4340 §5.8
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/types.h"

namespace dccp {

struct OptionView {
  OptionType type = OptionType::kPadding;
  std::span<const std::byte> data;  // without type and length; empty in types below 32
  std::size_t offset = 0;           // of the type byte in the option area
};

// Owns nothing. Yields the options in order, unknown ones too, and checks lengths only. Padding is
// skipped; Mandatory is an option of its own, and whether Padding followed it tells
// padding_skipped(). An option of nonsensical length (below 2, or past the end) ends the iteration
// with everything after it. RFC 4340 §5.8
//
//   types 0-31:   | Type |
//   types 32-255: | Type | Length (of type, length and data) | data ... |
class OptionReader {
 public:
  explicit OptionReader(std::span<const std::byte> area) : area_(area) {}

  // False at the end and at an option of nonsensical length; `out` is then unchanged.
  bool Next(OptionView* out) {
    std::size_t at = at_;
    const std::size_t start = at;
    while (at < area_.size() && area_[at] == std::byte{0}) ++at;
    padding_skipped_ = at != start;
    at_ = at;
    if (malformed_ || at == area_.size()) return false;
    const auto type = static_cast<OptionType>(area_[at]);
    if (static_cast<unsigned>(type) < 32) {
      *out = {type, {}, at};
      at_ = at + 1;
      return true;
    }
    const std::size_t left = area_.size() - at;
    const std::size_t length = left < 2 ? 0 : static_cast<std::size_t>(area_[at + 1]);
    if (length < 2 || length > left) {
      malformed_ = true;
      return false;
    }
    *out = {type, area_.subspan(at + 2, length - 2), at};
    at_ = at + length;
    return true;
  }

  // Padding stood between the option before (or the start) and where the last Next() arrived. After
  // a Mandatory this says that Mandatory applied to Padding, that is, to nothing. RFC 4340 §5.8.2
  bool padding_skipped() const { return padding_skipped_; }

  // The iteration ended at an option of nonsensical length.
  bool malformed() const { return malformed_; }
  // That option's type, and what follows its length byte as far as the area goes.
  OptionType malformed_type() const {
    return malformed_ ? static_cast<OptionType>(area_[at_]) : OptionType::kPadding;
  }
  std::span<const std::byte> malformed_data() const {
    return malformed_ && area_.size() - at_ > 2 ? area_.subspan(at_ + 2)
                                                : std::span<const std::byte>();
  }

 private:
  std::span<const std::byte> area_;
  std::size_t at_ = 0;
  bool malformed_ = false;
  bool padding_skipped_ = false;
};

}  // namespace dccp
