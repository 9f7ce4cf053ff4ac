#include "stack/wire/feature_codec.h"

#include <array>

#include "stack/base/check.h"
#include "stack/wire/integer_field.h"
#include "stack/wire/option_rules.h"

namespace dccp {

std::optional<FeatureOptionView> DecodeFeatureOption(const OptionView& option) {
  if (!IsFeatureOption(option.type) || option.data.empty()) return std::nullopt;
  return FeatureOptionView{option.type, static_cast<FeatureNumber>(option.data[0]),
                           option.data.subspan(1)};
}

std::optional<std::uint64_t> DecodeNnValue(FeatureNumber feature,
                                           std::span<const std::byte> value) {
  const std::size_t bytes = NnValueBytes(feature);
  if (bytes == 0 || value.size() != bytes) return std::nullopt;
  return LoadInteger(value);
}

bool AddNnFeature(OptionWriter& writer, OptionType type, FeatureNumber feature, std::uint64_t value,
                  bool mandatory) {
  DCCP_CHECK(type == OptionType::kChangeL || type == OptionType::kConfirmR);
  DCCP_CHECK(NnValueBytes(feature) != 0);
  std::array<std::byte, 6> buffer;
  const std::span<std::byte> bytes = std::span(buffer).first(NnValueBytes(feature));
  StoreInteger(bytes, value);
  return writer.AddFeature(type, feature, bytes, mandatory);
}

}  // namespace dccp
