#include "dccp/option_writer.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

// A Response's options as captured from Linux 6.1.192 in their order.
TEST(OptionWriter, WritesCapturedOptions) {
  std::array<std::byte, 64> buffer;
  OptionWriter w(buffer);
  EXPECT_TRUE(w.Add(OptionType::kTimestampEcho, FromHex("0004ce5f0001")));
  EXPECT_TRUE(w.AddInteger(OptionType::kTimestamp, 0x0004CE61, 4));
  EXPECT_TRUE(w.AddFeature(OptionType::kConfirmL, FeatureNumber::kCcid, FromHex("020203"), false));
  EXPECT_TRUE(w.AddFeature(OptionType::kConfirmR, FeatureNumber::kCcid, FromHex("020203"), false));
  EXPECT_TRUE(
      w.AddFeature(OptionType::kChangeL, FeatureNumber::kAllowShortSeqnos, FromHex("00"), true));
  EXPECT_EQ(ToHex(w.bytes()), "2a080004ce5f000129060004ce612106010202032306010202030120040200");
}

TEST(OptionWriter, ReserveGivesExactlyTheData) {
  std::array<std::byte, 16> buffer = {};
  OptionWriter w(buffer);
  const std::span<std::byte> data = w.Reserve(OptionType::kAckVectorNonce0, 3);
  ASSERT_EQ(data.size(), 3u);
  EXPECT_EQ(data.data(), buffer.data() + 2);
  data[0] = data[1] = data[2] = std::byte{7};
  EXPECT_EQ(ToHex(w.bytes()), "2605070707");
  EXPECT_EQ(w.remaining(), 11u);
}

TEST(OptionWriter, WholeOptionOrNothing) {
  const Bytes four = FromHex("01020304");
  for (std::size_t used = 0; used <= 8; ++used) {
    std::array<std::byte, 8> buffer;
    OptionWriter w(buffer);
    for (std::size_t i = 0; i < used; ++i) ASSERT_TRUE(w.AddByte(OptionType::kSlowReceiver));
    const std::size_t left = 8 - used;
    EXPECT_EQ(w.Add(OptionType::kTimestamp, four), left >= 6);
    w.Rewind(used);
    EXPECT_EQ(w.AddInteger(OptionType::kTimestamp, 1, 4), left >= 6);
    w.Rewind(used);
    EXPECT_EQ(w.Reserve(OptionType::kTimestamp, 4).size(), left >= 6 ? 4u : 0u);
    w.Rewind(used);
    EXPECT_EQ(w.AddFeature(OptionType::kChangeL, FeatureNumber::kCcid, four, false), left >= 7);
    w.Rewind(used);
    EXPECT_EQ(w.AddFeature(OptionType::kChangeL, FeatureNumber::kCcid, four, true), left >= 8);
    w.Rewind(used);
    EXPECT_EQ(w.AddByte(OptionType::kMandatory), left >= 1);
    w.Rewind(used);
    EXPECT_EQ(w.size(), used);
  }
}

TEST(OptionWriter, R4340_OPT_01_LengthByteLimitsTheData) {
  std::array<std::byte, 300> buffer;
  OptionWriter w(buffer);
  EXPECT_FALSE(w.Add(OptionType::kInitCookie, Bytes(254)));
  EXPECT_TRUE(w.Reserve(OptionType::kInitCookie, 254).empty());
  EXPECT_FALSE(w.AddFeature(OptionType::kChangeL, FeatureNumber::kCcid, Bytes(253), false));
  EXPECT_EQ(w.size(), 0u);
  EXPECT_TRUE(w.Add(OptionType::kInitCookie, Bytes(253)));
  EXPECT_EQ(w.bytes()[1], std::byte{255});
}

TEST(OptionWriter, R4340_OPT_03_PadsToWholeWords) {
  for (std::size_t used = 0; used <= 12; ++used) {
    std::array<std::byte, 15> buffer;  // three words and a rest that is never used
    buffer.fill(std::byte{0xEE});
    OptionWriter w(buffer);
    for (std::size_t i = 0; i < used; ++i) ASSERT_TRUE(w.AddByte(OptionType::kSlowReceiver));
    w.Pad();
    EXPECT_EQ(w.size(), (used + 3) / 4 * 4);
    for (std::size_t i = used; i < w.size(); ++i) EXPECT_EQ(buffer[i], std::byte{0});
    EXPECT_EQ(buffer[12], std::byte{0xEE});
  }
}

TEST(OptionWriter, PadsToAQuantumAsFarAsTheBufferGoes) {
  std::array<std::byte, 20> buffer;
  OptionWriter w(buffer);
  w.Pad(8);
  EXPECT_EQ(w.size(), 0u);
  w.AddByte(OptionType::kSlowReceiver);
  w.Pad(8);
  EXPECT_EQ(w.size(), 8u);
  w.AddInteger(OptionType::kNdpCount, 1, 6);
  w.Pad(8);
  EXPECT_EQ(w.size(), 16u);
  w.AddByte(OptionType::kSlowReceiver);
  w.Pad(8);
  EXPECT_EQ(w.size(), 20u);
}

TEST(OptionWriter, NeverExceedsTheLargestOptionArea) {
  std::vector<std::byte> buffer(2000);
  OptionWriter w(buffer);
  EXPECT_EQ(w.remaining(), 1008u);
  while (w.AddByte(OptionType::kSlowReceiver)) {
  }
  EXPECT_EQ(w.size(), OptionWriter::kMaxBytes);
}

TEST(OptionWriter, R4340_GEN_01_IntegersAreBigEndian) {
  for (std::size_t n = 1; n <= 8; ++n) {
    std::array<std::byte, 12> buffer;
    OptionWriter w(buffer);
    ASSERT_TRUE(w.AddInteger(OptionType::kNdpCount, 0x0102030405060708, n));
    EXPECT_EQ(ToHex(w.bytes().subspan(2)), std::string("0102030405060708").substr(16 - 2 * n));
  }
}

TEST(OptionWriterDeath, MisuseEndsTheProgram) {
  std::array<std::byte, 12> buffer;
  OptionWriter w(buffer);
  EXPECT_DEATH(w.AddByte(OptionType::kTimestamp), "IsSingleByte");
  EXPECT_DEATH(w.Add(OptionType::kMandatory, {}), "IsSingleByte");
  EXPECT_DEATH(w.AddInteger(OptionType::kNdpCount, 1, 9), "value_bytes");
}

}  // namespace
}  // namespace dccp
