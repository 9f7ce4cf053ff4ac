// What is known of each feature before any negotiation. RFC 4340 §6.4 (Table 4), §10.3
#pragma once

#include <cstdint>

#include "dccp/types.h"

namespace dccp {

// F/A is "feature F located at A". kLocal: at this endpoint, whose options for it are Change L and
// Confirm L; kRemote: at the peer. RFC 4340 §6
enum class Located : std::uint8_t { kLocal, kRemote };

constexpr Located Opposite(Located at) {
  return at == Located::kLocal ? Located::kRemote : Located::kLocal;
}

// RFC 4340 §6.3
enum class FeatureRule : std::uint8_t { kServerPriority, kNonNegotiable };

struct FeatureInfo {
  FeatureNumber number;
  FeatureRule rule;
  bool required;             // every DCCP must understand it
  std::uint8_t value_bytes;  // 1 for every server-priority feature there is
  std::uint64_t initial;
  std::uint64_t min;  // NN: values outside are invalid. SP: values outside are merely not
  std::uint64_t max;  // understood, and never chosen. RFC 4340 §6.6.8
};

// Null for a number that is not one of 1-9. CCID-specific numbers: CcidFeatureInfo().
const FeatureInfo* FindFeature(FeatureNumber feature);

// 128-255. RFC 4340 §10.3
constexpr bool IsCcidSpecific(FeatureNumber feature) {
  return static_cast<std::uint8_t>(feature) >= 128;
}

// A CCID-specific feature as the negotiator treats it: a server-priority boolean that starts at 0,
// which is what Send Loss Event Rate is (RFC 4342 §8.4).
FeatureInfo CcidFeatureInfo(FeatureNumber feature);

// Where the CCID feature lies whose value gives a meaning to CCID-specific `feature` located at
// `at`: 128-191 lie at the HC-Sender, as CCID does, and 192-255 at the HC-Receiver. RFC 4340 §10.3
constexpr Located CcidLocation(FeatureNumber feature, Located at) {
  return static_cast<std::uint8_t>(feature) < 192 ? at : Opposite(at);
}

}  // namespace dccp
