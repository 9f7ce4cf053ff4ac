#include "stack/wire/feature_codec.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

std::optional<FeatureOptionView> Decode(const Bytes& option) {
  OptionReader reader(option);
  OptionView o;
  if (!reader.Next(&o)) return std::nullopt;
  return DecodeFeatureOption(o);
}

// DataAck, captured from Linux 6.1.192: Change L (Sequence Window, 50) and Change L (Ack Ratio, 1).
TEST(FeatureCodec, CapturedChanges) {
  const Bytes area = FromHex("0000002603002009030000000000322005050001");
  OptionReader reader(area);
  std::vector<std::uint64_t> values;
  for (OptionView o; reader.Next(&o);) {
    const auto f = DecodeFeatureOption(o);
    if (!f.has_value()) continue;
    EXPECT_EQ(f->type, OptionType::kChangeL);
    values.push_back(DecodeNnValue(f->feature, f->value).value());
  }
  EXPECT_EQ(values, (std::vector<std::uint64_t>{50, 1}));
}

// Each value of a list is one CCID, and what follows the value of a Confirm is a list too.
TEST(FeatureCodec, Bug_F7_CcidListsAreListsOfBytes) {
  const Bytes area = FromHex("20060103020823060103020000");
  OptionReader reader(area);
  std::vector<std::vector<unsigned>> lists;
  for (OptionView o; reader.Next(&o);) {
    const auto f = DecodeFeatureOption(o);
    ASSERT_TRUE(f.has_value());
    EXPECT_EQ(f->feature, FeatureNumber::kCcid);
    lists.emplace_back();
    for (const std::byte value : f->value) lists.back().push_back(static_cast<unsigned>(value));
  }
  EXPECT_EQ(lists, (std::vector<std::vector<unsigned>>{{3, 2, 8}, {3, 2, 0}}));
}

// The examples of RFC 4340 §6.5.
TEST(FeatureCodec, R4340_FN_01_ExamplesOfTheRfc) {
  const struct {
    Bytes bytes;
    OptionType type;
    unsigned feature;
    std::string value;
  } examples[] = {
      {ToBytes({32, 5, 1, 2, 3}), OptionType::kChangeL, 1, "0203"},
      {ToBytes({32, 9, 3, 0, 0, 0, 0, 4, 0}), OptionType::kChangeL, 3, "000000000400"},
      {ToBytes({33, 6, 1, 2, 2, 3}), OptionType::kConfirmL, 1, "020203"},
      {ToBytes({33, 3, 126}), OptionType::kConfirmL, 126, ""},
      {ToBytes({34, 5, 1, 3, 2}), OptionType::kChangeR, 1, "0302"},
      {ToBytes({35, 6, 1, 2, 3, 2}), OptionType::kConfirmR, 1, "020302"},
      {ToBytes({35, 9, 3, 0, 0, 0, 0, 4, 0}), OptionType::kConfirmR, 3, "000000000400"},
      {ToBytes({35, 3, 126}), OptionType::kConfirmR, 126, ""},
  };
  for (const auto& e : examples) {
    SCOPED_TRACE(ToHex(e.bytes));
    const auto f = Decode(e.bytes);
    ASSERT_TRUE(f.has_value());
    EXPECT_EQ(f->type, e.type);
    EXPECT_EQ(static_cast<unsigned>(f->feature), e.feature);
    EXPECT_EQ(ToHex(f->value), e.value);
    EXPECT_EQ(f->empty(), e.value.empty());

    std::array<std::byte, 16> buffer;
    OptionWriter w(buffer);
    ASSERT_TRUE(w.AddFeature(f->type, f->feature, f->value, false));
    EXPECT_EQ(ToHex(w.bytes()), ToHex(e.bytes));
  }
}

TEST(FeatureCodec, R4340_FN_05_AnswersMatchInLetter) {
  EXPECT_EQ(AnswerTo(OptionType::kChangeL), OptionType::kConfirmR);
  EXPECT_EQ(AnswerTo(OptionType::kChangeR), OptionType::kConfirmL);
}

TEST(FeatureCodec, KindAndLocation) {
  const struct {
    unsigned type;
    bool change, confirm, local;
  } rows[] = {{32, true, false, true},
              {33, false, true, true},
              {34, true, false, false},
              {35, false, true, false}};
  for (const auto& r : rows) {
    const auto f = Decode(ToBytes({r.type, 4, 1, 2}));
    ASSERT_TRUE(f.has_value());
    EXPECT_EQ(f->is_change(), r.change);
    EXPECT_EQ(f->is_confirm(), r.confirm);
    EXPECT_EQ(f->is_local(), r.local);
  }
}

TEST(FeatureCodec, Bug_B9_LengthTwoNamesNoFeature) {
  for (unsigned type = 32; type < 36; ++type) EXPECT_FALSE(Decode(ToBytes({type, 2, 1})));
}

TEST(FeatureCodec, R4340_FN_03_ChangeOfLengthThreeIsSeenAsEmpty) {
  const auto f = Decode(ToBytes({32, 3, 1}));
  ASSERT_TRUE(f.has_value());
  EXPECT_TRUE(f->is_change());
  EXPECT_TRUE(f->empty());
}

TEST(FeatureCodec, OtherOptionsAreNone) {
  for (const unsigned type : {31u, 36u, 37u, 128u, 255u})
    EXPECT_FALSE(Decode(ToBytes({type, 4, 1, 2})).has_value()) << type;
}

TEST(FeatureCodec, R4340_FN_10_NonNegotiableValues) {
  EXPECT_EQ(NnValueBytes(FeatureNumber::kSequenceWindow), 6u);
  EXPECT_EQ(NnValueBytes(FeatureNumber::kAckRatio), 2u);
  for (const FeatureNumber f : {FeatureNumber::kCcid, FeatureNumber::kSendLossEventRate})
    EXPECT_EQ(NnValueBytes(f), 0u);
  for (std::size_t n = 0; n < 10; ++n) {
    EXPECT_EQ(DecodeNnValue(FeatureNumber::kSequenceWindow, Bytes(n)).has_value(), n == 6) << n;
    EXPECT_EQ(DecodeNnValue(FeatureNumber::kAckRatio, Bytes(n)).has_value(), n == 2) << n;
    EXPECT_FALSE(DecodeNnValue(FeatureNumber::kCcid, Bytes(n)).has_value()) << n;
  }
}

TEST(FeatureCodec, WritesNonNegotiableFeatures) {
  std::array<std::byte, 24> buffer;
  OptionWriter w(buffer);
  EXPECT_TRUE(AddNnFeature(w, OptionType::kChangeL, FeatureNumber::kSequenceWindow,
                           (std::uint64_t{1} << 46) - 1, false));
  EXPECT_TRUE(AddNnFeature(w, OptionType::kConfirmR, FeatureNumber::kAckRatio, 2, false));
  EXPECT_TRUE(AddNnFeature(w, OptionType::kChangeL, FeatureNumber::kAckRatio, 65535, true));
  EXPECT_EQ(ToHex(w.bytes()), "2009033fffffffffff230505000201200505ffff");
}

}  // namespace
}  // namespace dccp
