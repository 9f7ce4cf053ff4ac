#include "stack/wire/option_codec.h"

#include <gtest/gtest.h>

#include <array>

#include "stack/wire/crc32c.h"
#include "stack/wire/option_reader.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

// What `add` writes, and the data of the one option that this is.
template <typename Add>
std::string Written(Add add) {
  std::array<std::byte, 300> buffer;
  OptionWriter w(buffer);
  EXPECT_TRUE(add(w));
  OptionReader reader(w.bytes());
  OptionView o;
  EXPECT_TRUE(reader.Next(&o));
  EXPECT_EQ(o.data.size() + (o.data.empty() ? 1 : 2), w.size());
  return ToHex(w.bytes());
}

std::string NdpHex(std::uint64_t n) {
  return Written([n](OptionWriter& w) { return AddNdpCount(w, n); });
}
std::string ElapsedHex(std::uint32_t t) {
  return Written([t](OptionWriter& w) { return AddElapsedTime(w, TenMicros(t)); });
}
std::string EchoHex(std::uint32_t timestamp, std::uint32_t elapsed) {
  return Written([=](OptionWriter& w) {
    return AddTimestampEcho(w, {TenMicros(timestamp), TenMicros(elapsed)});
  });
}

// From a Response captured from Linux 6.1.192: 2a 08 0004ce5f 0001 | 29 06 0004ce61.
TEST(OptionCodec, CapturedTimestampAndEcho) {
  EXPECT_EQ(DecodeTimestamp(FromHex("0004ce61")), TenMicros(0x4CE61));
  EXPECT_EQ(DecodeTimestampEcho(FromHex("0004ce5f0001")),
            (TimestampEcho{TenMicros(0x4CE5F), TenMicros(1)}));
  EXPECT_EQ(EchoHex(0x4CE5F, 1), "2a080004ce5f0001");
}

TEST(OptionCodec, R4340_NDP_01_Bug_B17_OneToSixBytes) {
  EXPECT_EQ(DecodeNdpCount(FromHex("05")), 5u);
  EXPECT_EQ(DecodeNdpCount(FromHex("0005")), 5u);
  EXPECT_EQ(DecodeNdpCount(FromHex("ffffffffffff")), (std::uint64_t{1} << 48) - 1);
  EXPECT_FALSE(DecodeNdpCount({}).has_value());
  EXPECT_FALSE(DecodeNdpCount(Bytes(7)).has_value());
}

TEST(OptionCodec, R4340_NDP_04_SmallestEncoding) {
  EXPECT_EQ(NdpHex(0), "250300");
  EXPECT_EQ(NdpHex(255), "2503ff");
  EXPECT_EQ(NdpHex(256), "25040100");
  EXPECT_EQ(NdpHex(65535), "2504ffff");
  EXPECT_EQ(NdpHex(65536), "2505010000");
  EXPECT_EQ(NdpHex(0x1000000), "250601000000");
  EXPECT_EQ(NdpHex(0x100000000), "25070100000000");
  EXPECT_EQ(NdpHex(0x10000000000), "2508010000000000");
  EXPECT_EQ(NdpHex((std::uint64_t{1} << 48) - 1), "2508ffffffffffff");
  EXPECT_EQ(NdpHex(std::uint64_t{1} << 48), "2508ffffffffffff");
}

TEST(OptionCodec, R4340_TIM_01_TimestampIsFourBytes) {
  EXPECT_EQ(Written([](OptionWriter& w) { return AddTimestamp(w, TenMicros(0xDEADBEEF)); }),
            "2906deadbeef");
  for (std::size_t n = 0; n < 12; ++n)
    EXPECT_EQ(DecodeTimestamp(Bytes(n)).has_value(), n == 4) << n;
}

TEST(OptionCodec, R4340_TIM_03_ElapsedTimeIsTwoOrFourBytes) {
  EXPECT_EQ(DecodeElapsedTime(FromHex("0102")), TenMicros(0x102));
  EXPECT_EQ(DecodeElapsedTime(FromHex("01020304")), TenMicros(0x1020304));
  for (std::size_t n = 0; n < 12; ++n)
    EXPECT_EQ(DecodeElapsedTime(Bytes(n)).has_value(), n == 2 || n == 4) << n;
}

TEST(OptionCodec, R4340_TIM_04_ElapsedTimeForms) {
  EXPECT_EQ(ElapsedHex(0), "2b040000");
  EXPECT_EQ(ElapsedHex(49999), "2b04c34f");
  EXPECT_EQ(ElapsedHex(50000), "2b04c350");
  EXPECT_EQ(ElapsedHex(65535), "2b04ffff");
  EXPECT_EQ(ElapsedHex(65536), "2b0600010000");
  EXPECT_EQ(ElapsedHex(TenMicros::kMaxTicks), "2b06ffffffff");
}

TEST(OptionCodec, R4340_TIM_06_TimestampEchoForms) {
  EXPECT_EQ(EchoHex(0x01020304, 0), "2a0601020304");
  EXPECT_EQ(EchoHex(0x01020304, 65535), "2a0801020304ffff");
  EXPECT_EQ(EchoHex(0x01020304, 65536), "2a0a0102030400010000");
  EXPECT_EQ(DecodeTimestampEcho(FromHex("01020304")),
            (TimestampEcho{TenMicros(0x01020304), TenMicros(0)}));
  EXPECT_EQ(DecodeTimestampEcho(FromHex("0102030400010000")),
            (TimestampEcho{TenMicros(0x01020304), TenMicros(65536)}));
  for (std::size_t n = 0; n < 12; ++n)
    EXPECT_EQ(DecodeTimestampEcho(Bytes(n)).has_value(), n == 4 || n == 6 || n == 8) << n;
}

TEST(OptionCodec, R4340_COOK_04_InitCookieIsOpaque) {
  const Bytes cookie(253, std::byte{0xC0});
  const std::string hex = Written([&](OptionWriter& w) { return AddInitCookie(w, cookie); });
  EXPECT_EQ(hex, "24ff" + ToHex(cookie));
  std::array<std::byte, 400> buffer;
  OptionWriter w(buffer);
  EXPECT_FALSE(AddInitCookie(w, Bytes(kMaxInitCookieBytes + 1)));
}

// The least significant byte of the CRC goes first, as in SCTP's common header.
TEST(OptionCodec, R4340_CSM_09_DataChecksumInTheByteOrderOfSctp) {
  const std::string_view text = "123456789";
  const std::uint32_t crc = Crc32c(std::as_bytes(std::span(text)));
  EXPECT_EQ(Written([crc](OptionWriter& w) { return AddDataChecksum(w, crc); }), "2c06839206e3");
  EXPECT_EQ(DecodeDataChecksum(FromHex("839206e3")), crc);
}

TEST(OptionCodec, R4340_CSM_13_DataChecksumOfAnotherLengthIsIgnored) {
  for (std::size_t n = 0; n < 12; ++n)
    EXPECT_EQ(DecodeDataChecksum(Bytes(n)).has_value(), n == 4) << n;
}

TEST(OptionCodec, SlowReceiverIsOneByte) {
  EXPECT_EQ(Written([](OptionWriter& w) { return AddSlowReceiver(w); }), "02");
}

TEST(OptionCodec, FalseWhereThereIsNoRoom) {
  std::array<std::byte, 4> buffer;
  OptionWriter w(buffer);
  EXPECT_FALSE(AddTimestamp(w, TenMicros(1)));
  EXPECT_FALSE(AddTimestampEcho(w, {}));
  EXPECT_FALSE(AddDataChecksum(w, 1));
  EXPECT_FALSE(AddElapsedTime(w, TenMicros(65536)));
  EXPECT_FALSE(AddNdpCount(w, 65536));
  EXPECT_FALSE(AddInitCookie(w, Bytes(3)));
  EXPECT_EQ(w.size(), 0u);
  EXPECT_TRUE(AddElapsedTime(w, TenMicros(65535)));
  EXPECT_FALSE(AddSlowReceiver(w));
}

TEST(OptionCodec, R4340_RST_03_ResetForAnOption) {
  const auto reset = [](const char* data) {
    return OptionReset(ResetCode::kMandatoryError, static_cast<OptionType>(45), FromHex(data));
  };
  EXPECT_EQ(reset("aabbcc"), (ResetReason{ResetCode::kMandatoryError, {45, 0xAA, 0xBB}}));
  EXPECT_EQ(reset("aa"), (ResetReason{ResetCode::kMandatoryError, {45, 0xAA, 0}}));
  EXPECT_EQ(reset(""), (ResetReason{ResetCode::kMandatoryError, {45, 0, 0}}));
}

// Seen on the wire from Linux 6.1.192 when the CCIDs do not match: 05 20 01 02 or 05 22 01 03.
TEST(OptionCodec, Bug_B5_OptionErrorNamesTheOption) {
  EXPECT_EQ(OptionReset(ResetCode::kOptionError, OptionType::kChangeL, FromHex("0102")),
            (ResetReason{ResetCode::kOptionError, {0x20, 1, 2}}));
}

}  // namespace
}  // namespace dccp
