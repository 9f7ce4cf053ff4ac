#include "dccp/service_code.h"

#include <string>

#include "gtest/gtest.h"

namespace dccp {
namespace {

std::optional<std::uint32_t> Parsed(std::string_view text) {
  const auto code = ServiceCode::Parse(text);
  return code ? std::optional(code->value()) : std::nullopt;
}

TEST(ServiceCode, R4340_SVC_03_ThreeFormsOfOneCode) {
  EXPECT_EQ(Parsed("SC:fdpz"), 1717858426u);
  EXPECT_EQ(Parsed("SC=1717858426"), 1717858426u);
  EXPECT_EQ(Parsed("SC=x6664707A"), 1717858426u);
  EXPECT_EQ(Parsed("SC=X6664707a"), 1717858426u);
  EXPECT_EQ(Parsed("fdpz"), 1717858426u);
}

TEST(ServiceCode, R4340_SVC_03_ShortCodesArePaddedWithSpaces) {
  EXPECT_EQ(Parsed("SC:a"), 0x61202020u);
  EXPECT_EQ(Parsed("SC:ab"), 0x61622020u);
  EXPECT_EQ(Parsed("SC:?@*"), 0x3F402A20u);
}

TEST(ServiceCode, R4340_SVC_03_RejectsWhatIsNoCode) {
  for (const char* text : {"", "SC", "SC:", "SC:abcde", "SC:a b", "SC:a,", "SC=", "SC=x", "SC=12a",
                           "SC=-1", "SC=xG", "sc:abcd", "abc", "abcde", "ab c", "SC= 1"}) {
    EXPECT_EQ(Parsed(text), std::nullopt) << text;
  }
}

TEST(ServiceCode, R4340_SVC_03_ValuesAbove4294967294AreIllegal) {
  EXPECT_EQ(Parsed("SC=4294967294"), 4294967294u);
  EXPECT_EQ(Parsed("SC=xFFFFFFFE"), 4294967294u);
  EXPECT_EQ(Parsed("SC=0000000000000000000000000007"), 7u);
  EXPECT_EQ(Parsed("SC=4294967295"), std::nullopt);
  EXPECT_EQ(Parsed("SC=xFFFFFFFF"), std::nullopt);
  EXPECT_EQ(Parsed("SC=99999999999999999999999999"), std::nullopt);
}

TEST(ServiceCode, WritesCharactersWhereItCanAndHexElsewhere) {
  const auto text = [](std::uint32_t v) { return std::string(ServiceCode(v).ToText().data()); };
  EXPECT_EQ(text(1717858426), "SC:fdpz");
  EXPECT_EQ(text(0x61202020), "SC:a");
  EXPECT_EQ(text(0), "SC=x00000000");
  EXPECT_EQ(text(0x20202020), "SC=x20202020");
  EXPECT_EQ(text(0x61206220), "SC=x61206220");  // a space inside
  EXPECT_EQ(text(0xFFFFFFFF), "SC=xFFFFFFFF");
}

TEST(ServiceCode, TextOfEveryValidCodeParsesBack) {
  for (std::uint64_t v = 0; v < ServiceCode::kInvalid; v += 65521 * 13) {
    const ServiceCode code(static_cast<std::uint32_t>(v));
    EXPECT_EQ(ServiceCode::Parse(code.ToText().data()), code) << v;
  }
}

TEST(ServiceCode, OnlyAllOnesIsInvalid) {
  EXPECT_TRUE(ServiceCode().valid());
  EXPECT_TRUE(ServiceCode(0xFFFFFFFE).valid());
  EXPECT_FALSE(ServiceCode(ServiceCode::kInvalid).valid());
}

}  // namespace
}  // namespace dccp
