#include "stack/wire/option_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stack/wire/option_codec.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "type:data@offset" of each option.
std::vector<std::string> Read(const Bytes& area, bool* malformed = nullptr) {
  std::vector<std::string> out;
  OptionReader reader(area);
  for (OptionView o; reader.Next(&o);)
    out.push_back(std::to_string(static_cast<unsigned>(o.type)) + ":" + ToHex(o.data) + "@" +
                  std::to_string(o.offset));
  if (malformed != nullptr)
    *malformed = reader.malformed();
  else
    EXPECT_FALSE(reader.malformed());
  return out;
}

// Options of a Request, captured from Linux 6.1.192: Padding comes first, then Timestamp, Change L
// and Change R of CCID {2, 3}, and two Mandatory Change L, of Allow Short Seqnos and ECN Incapable.
TEST(OptionReader, R4340_OPT_03_LNX_01_CapturedRequestWithLeadingPadding) {
  const Bytes area = FromHex("000029060004cdeb2005010203220501020301200402000120040401");
  EXPECT_THAT(Read(area), ElementsAre("41:0004cdeb@2", "32:010203@8", "34:010203@13", "1:@18",
                                      "32:0200@19", "1:@23", "32:0401@24"));
}

TEST(OptionReader, EmptyAreaHoldsNothing) {
  EXPECT_THAT(Read({}), IsEmpty());
  EXPECT_THAT(Read(Bytes(40)), IsEmpty());
}

TEST(OptionReader, R4340_OPT_01_TypesBelow32AreOneByte) {
  for (unsigned type = 1; type < 32; ++type) {
    EXPECT_THAT(Read(ToBytes({type, 37, 3, 9})),
                ElementsAre(std::to_string(type) + ":@0", "37:09@1"));
  }
}

TEST(OptionReader, R4340_OPT_01_OtherTypesHaveALength) {
  for (unsigned type = 32; type < 256; ++type) {
    EXPECT_THAT(Read(ToBytes({type, 2, type, 4, 0xAA, 0xBB})),
                ElementsAre(std::to_string(type) + ":@0", std::to_string(type) + ":aabb@2"));
  }
}

TEST(OptionReader, R4340_OPT_01_LongestOption) {
  Bytes area(256);
  area[0] = std::byte{200};
  area[1] = std::byte{255};
  OptionReader reader(area);
  OptionView o;
  ASSERT_TRUE(reader.Next(&o));
  EXPECT_EQ(o.data.size(), 253u);
  EXPECT_FALSE(reader.Next(&o));
  EXPECT_FALSE(reader.malformed());
}

TEST(OptionReader, R4340_OPT_02_OptionsStartAtAnyByte) {
  for (unsigned shift = 0; shift < 8; ++shift) {
    Bytes area(shift, std::byte{2});
    const Bytes option = ToBytes({43, 4, 1, 2});
    area.insert(area.end(), option.begin(), option.end());
    EXPECT_EQ(Read(area).back(), "43:0102@" + std::to_string(shift));
  }
}

TEST(OptionReader, R4340_OPT_03_PaddingAnywhere) {
  EXPECT_THAT(Read(ToBytes({0, 2, 0, 0, 37, 3, 5, 0, 0})), ElementsAre("2:@1", "37:05@4"));
}

// The options before the nonsensical one stand, it and all after it are gone.
TEST(OptionReader, R4340_OPT_07_NonsensicalLengthEndsTheOptions) {
  for (const unsigned length : {0u, 1u, 7u, 255u}) {
    bool malformed = false;
    EXPECT_THAT(Read(ToBytes({37, 3, 5, 60, length, 37, 3, 6, 2}), &malformed),
                ElementsAre("37:05@0"));
    EXPECT_TRUE(malformed) << length;
  }
  EXPECT_THAT(Read(ToBytes({37, 3, 5, 60, 6, 37, 3, 6, 2})),
              ElementsAre("37:05@0", "60:25030602@3"));
}

TEST(OptionReader, Bug_B4_LongTypeAsLastByte) {
  bool malformed = false;
  EXPECT_THAT(Read(ToBytes({2, 0, 0, 60}), &malformed), ElementsAre("2:@0"));
  EXPECT_TRUE(malformed);
}

TEST(OptionReader, R4340_OPT_14_MalformedTypeAndDataForTheReset) {
  const Bytes area = ToBytes({1, 45, 9, 0xAA});
  OptionReader reader(area);
  OptionView o;
  ASSERT_TRUE(reader.Next(&o));
  EXPECT_EQ(o.type, OptionType::kMandatory);
  EXPECT_FALSE(reader.Next(&o));
  EXPECT_EQ(o.type, OptionType::kMandatory);
  ASSERT_TRUE(reader.malformed());
  EXPECT_EQ(
      OptionReset(ResetCode::kMandatoryError, reader.malformed_type(), reader.malformed_data()),
      (ResetReason{ResetCode::kMandatoryError, {45, 0xAA, 0}}));
  EXPECT_FALSE(reader.Next(&o));
  EXPECT_TRUE(reader.malformed());
}

TEST(OptionReader, MalformedDataNeverReachesPastTheArea) {
  for (std::size_t bytes = 1; bytes <= 3; ++bytes) {
    Bytes area(bytes, std::byte{250});
    OptionReader reader(area);
    OptionView o;
    EXPECT_FALSE(reader.Next(&o));
    ASSERT_TRUE(reader.malformed());
    EXPECT_EQ(reader.malformed_data().size(), bytes > 2 ? bytes - 2 : 0);
  }
}

// "Mandatory Padding" equals two Paddings; Mandatory at the very end is an error. The reader lets
// its caller tell them apart.
TEST(OptionReader, R4340_OPT_11_PaddingAfterMandatoryShows) {
  const Bytes padded = ToBytes({1, 0, 37, 3, 5});
  OptionReader a(padded);
  OptionView o;
  ASSERT_TRUE(a.Next(&o));
  ASSERT_TRUE(a.Next(&o));
  EXPECT_EQ(o.type, OptionType::kNdpCount);
  EXPECT_TRUE(a.padding_skipped());

  const Bytes direct = ToBytes({1, 37, 3, 5});
  OptionReader b(direct);
  ASSERT_TRUE(b.Next(&o));
  ASSERT_TRUE(b.Next(&o));
  EXPECT_FALSE(b.padding_skipped());

  const Bytes only_padding = ToBytes({1, 0, 0, 0});
  OptionReader c(only_padding);
  ASSERT_TRUE(c.Next(&o));
  EXPECT_FALSE(c.Next(&o));
  EXPECT_TRUE(c.padding_skipped());

  const Bytes last = ToBytes({0, 0, 0, 1});
  OptionReader d(last);
  ASSERT_TRUE(d.Next(&o));
  EXPECT_FALSE(d.Next(&o));
  EXPECT_FALSE(d.padding_skipped());
}

}  // namespace
}  // namespace dccp
