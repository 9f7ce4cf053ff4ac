#include "stack/conn/feature_table.h"

#include <array>

namespace dccp {
namespace {

using enum FeatureNumber;
constexpr auto kSp = FeatureRule::kServerPriority;
constexpr auto kNn = FeatureRule::kNonNegotiable;

// RFC 4340 §6.4 Table 4, with the ranges of §7.5.2, §9.2.1, §11.3 and erratum 1049 (Sequence Window
// is at least 32; Ack Ratio 0 is valid).
constexpr std::array<FeatureInfo, 9> kFeatures = {{
    {kCcid, kSp, true, 1, 2, 0, 255},
    {kAllowShortSeqnos, kSp, true, 1, 0, 0, 1},
    {kSequenceWindow, kNn, true, 6, 100, 32, (std::uint64_t{1} << 46) - 1},
    {kEcnIncapable, kSp, false, 1, 0, 0, 1},
    {kAckRatio, kNn, false, 2, 2, 0, 65535},
    {kSendAckVector, kSp, false, 1, 0, 0, 1},
    {kSendNdpCount, kSp, false, 1, 0, 0, 1},
    {kMinChecksumCoverage, kSp, false, 1, 0, 0, 15},
    {kCheckDataChecksum, kSp, false, 1, 0, 0, 1},
}};

}  // namespace

const FeatureInfo* FindFeature(FeatureNumber feature) {
  const auto number = static_cast<std::size_t>(feature);
  return number >= 1 && number <= kFeatures.size() ? &kFeatures[number - 1] : nullptr;
}

FeatureInfo CcidFeatureInfo(FeatureNumber feature) { return {feature, kSp, false, 1, 0, 0, 1}; }

}  // namespace dccp
