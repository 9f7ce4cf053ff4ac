#include "stack/wire/option_rules.h"

#include <gtest/gtest.h>

#include <set>

namespace dccp {
namespace {

// Table 3 of RFC 4340 §5.8, column "DCCP-Data?".
TEST(OptionRules, R4340_OPT_10_OptionsOnData) {
  const std::set<unsigned> ignored = {1, 32, 33, 34, 35, 36, 38, 39, 40, 43};
  for (unsigned t = 0; t < 256; ++t)
    EXPECT_EQ(OptionPermitted(static_cast<OptionType>(t), PacketType::kData), !ignored.contains(t))
        << t;
}

TEST(OptionRules, R4340_OPT_17_OptionsThatNeedAnAcknowledgementNumber) {
  const std::set<unsigned> ignored = {33, 35, 36, 38, 39, 40, 43};
  for (unsigned t = 0; t < 256; ++t)
    EXPECT_EQ(OptionPermitted(static_cast<OptionType>(t), PacketType::kRequest),
              !ignored.contains(t))
        << t;
}

TEST(OptionRules, R4340_PKT_12_AllOptionsOnAllOtherTypes) {
  for (unsigned packet = 0; packet < 10; ++packet) {
    const auto type = static_cast<PacketType>(packet);
    if (!HasAckNumber(type)) continue;
    for (unsigned t = 0; t < 256; ++t)
      EXPECT_TRUE(OptionPermitted(static_cast<OptionType>(t), type)) << t << " on " << packet;
  }
}

TEST(OptionRules, R5596_FMT_05_NothingOnListen) {
  for (unsigned t = 0; t < 256; ++t)
    EXPECT_FALSE(OptionPermitted(static_cast<OptionType>(t), PacketType::kListen));
}

TEST(OptionRules, R4340_FT_17_RangesOfCcidOptions) {
  for (unsigned t = 0; t < 256; ++t) {
    EXPECT_EQ(IsSenderCcidOption(static_cast<OptionType>(t)), t >= 128 && t <= 191);
    EXPECT_EQ(IsReceiverCcidOption(static_cast<OptionType>(t)), t >= 192);
    EXPECT_EQ(IsFeatureOption(static_cast<OptionType>(t)), t >= 32 && t <= 35);
  }
}

}  // namespace
}  // namespace dccp
