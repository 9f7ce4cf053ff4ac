// Change and Confirm options and the values of non-negotiable features. RFC 4340 §6
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/option_writer.h"
#include "dccp/types.h"
#include "stack/wire/option_reader.h"

namespace dccp {

// Change L and Confirm L come from the feature's location, the R forms from the other end. §6
constexpr bool IsChange(OptionType t) {
  return t == OptionType::kChangeL || t == OptionType::kChangeR;
}
constexpr bool IsConfirm(OptionType t) {
  return t == OptionType::kConfirmL || t == OptionType::kConfirmR;
}
constexpr bool IsLocal(OptionType t) {
  return t == OptionType::kChangeL || t == OptionType::kConfirmL;
}
// The Confirm that answers a Change: Change L -> Confirm R, Change R -> Confirm L. §6.2
constexpr OptionType AnswerTo(OptionType change) {
  return change == OptionType::kChangeL ? OptionType::kConfirmR : OptionType::kConfirmL;
}

// One feature option. `value` is a single number (NN), a preference list (SP, Change), the chosen
// value and a list (SP, Confirm), or empty, which in a Confirm says "unknown feature or value" and
// in a Change is invalid. RFC 4340 §6.1, §6.2, §6.3
//
//   | Type 32-35 | Length | Feature | value(s) ... |
struct FeatureOptionView {
  OptionType type;
  FeatureNumber feature;
  std::span<const std::byte> value;

  bool is_change() const { return IsChange(type); }
  bool is_confirm() const { return IsConfirm(type); }
  bool is_local() const { return IsLocal(type); }
  bool empty() const { return value.empty(); }
};

// Empty: not one of types 32-35, or length 2, which names no feature; ignore it.
std::optional<FeatureOptionView> DecodeFeatureOption(const OptionView& option);

// The value length of a non-negotiable feature (Sequence Window 6, Ack Ratio 2), 0 for any other
// feature. RFC 4340 §6.3.2, §6.4
constexpr std::size_t NnValueBytes(FeatureNumber feature) {
  if (feature == FeatureNumber::kSequenceWindow) return 6;
  if (feature == FeatureNumber::kAckRatio) return 2;
  return 0;
}

// The number in a non-negotiable feature's value; empty where the feature is not one or the length
// is wrong. Ranges are the negotiator's business.
std::optional<std::uint64_t> DecodeNnValue(FeatureNumber feature, std::span<const std::byte> value);

// Adds Change L or Confirm R with a non-negotiable feature's value. False: no room.
bool AddNnFeature(OptionWriter& writer, OptionType type, FeatureNumber feature, std::uint64_t value,
                  bool mandatory);

}  // namespace dccp
