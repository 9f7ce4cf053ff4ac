#include "stack/wire/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

std::uint32_t OfText(std::string_view s) { return Crc32c(std::as_bytes(std::span(s))); }

std::uint32_t BitByBit(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
  }
  return ~crc;
}

TEST(Crc32c, R4340_CSM_09_KnownValues) {
  EXPECT_EQ(Crc32c({}), 0u);
  EXPECT_EQ(OfText("123456789"), 0xE3069283u);
  // RFC 3720, B.4
  EXPECT_EQ(Crc32c(Bytes(32)), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(Bytes(32, std::byte{0xFF})), 0x62A8AB43u);
  Bytes ascending(32);
  for (unsigned i = 0; i < 32; ++i) ascending[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46DD794Eu);
}

TEST(Crc32c, AgreesWithTheDefinitionForEveryLength) {
  std::mt19937 rng(9);
  Bytes b(300);
  for (std::byte& x : b) x = static_cast<std::byte>(rng());
  for (std::size_t n = 0; n < 290; ++n) {
    const auto part = std::span(b).subspan(n % 9, n);
    ASSERT_EQ(Crc32c(part), BitByBit(part)) << n;
  }
}

TEST(Crc32c, EveryFlippedBitChangesIt) {
  Bytes b(64, std::byte{0x3C});
  const std::uint32_t good = Crc32c(b);
  for (std::size_t bit = 0; bit < b.size() * 8; ++bit) {
    b[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_NE(Crc32c(b), good);
    b[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
}

}  // namespace
}  // namespace dccp
