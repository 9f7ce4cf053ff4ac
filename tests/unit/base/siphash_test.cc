#include "stack/base/siphash.h"

#include <array>

#include "gtest/gtest.h"

namespace dccp {
namespace {

// Key 00 01 .. 0f and messages 00 01 .. (n - 1), as in Appendix A of the paper.
std::uint64_t HashOfFirst(std::size_t n) {
  std::array<std::byte, 64> data = {};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  const auto key = SipKey::FromBytes(std::span<const std::byte, 16>(data.data(), 16));
  return SipHash24(key, std::span(data).first(n));
}

TEST(SipHash24, VectorOfThePaper) { EXPECT_EQ(HashOfFirst(15), 0xa129ca6149be45e5u); }

// The first and last of the 64 vectors that the authors publish, and those around a word's end.
TEST(SipHash24, PublishedVectors) {
  EXPECT_EQ(HashOfFirst(0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(HashOfFirst(1), 0x74f839c593dc67fdu);
  EXPECT_EQ(HashOfFirst(7), 0xab0200f58b01d137u);
  EXPECT_EQ(HashOfFirst(8), 0x93f5f5799a932462u);
  EXPECT_EQ(HashOfFirst(63), 0x958a324ceb064572u);
}

TEST(SipHash24, DependsOnBothHalvesOfTheKey) {
  const std::array<std::byte, 4> data = {};
  const std::uint64_t hash = SipHash24({1, 2}, data);
  EXPECT_NE(SipHash24({0, 2}, data), hash);
  EXPECT_NE(SipHash24({1, 3}, data), hash);
}

}  // namespace
}  // namespace dccp
