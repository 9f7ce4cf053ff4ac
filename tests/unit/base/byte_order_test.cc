#include "stack/base/byte_order.h"

#include <array>

#include "gtest/gtest.h"

namespace dccp {
namespace {

constexpr std::array<std::byte, 8> kBytes = {
    std::byte{0x81}, std::byte{0x02}, std::byte{0x03}, std::byte{0x04},
    std::byte{0x05}, std::byte{0x06}, std::byte{0x07}, std::byte{0xF8},
};

TEST(ByteOrder, R4340_GEN_01_LoadsBigEndian) {
  EXPECT_EQ(Load8(kBytes.data()), 0x81u);
  EXPECT_EQ(LoadBe16(kBytes.data()), 0x8102u);
  EXPECT_EQ(LoadBe24(kBytes.data()), 0x810203u);
  EXPECT_EQ(LoadBe32(kBytes.data()), 0x81020304u);
  EXPECT_EQ(LoadBe48(kBytes.data()), 0x810203040506u);
  EXPECT_EQ(LoadBe64(kBytes.data()), 0x81020304050607F8u);
}

TEST(ByteOrder, R4340_GEN_01_StoresBigEndianAndOnlyItsOwnBytes) {
  const auto stored = [](auto store) {
    std::array<std::byte, 10> out;
    out.fill(std::byte{0xEE});
    store(out.data() + 1);
    return out;
  };
  const auto expect = [](const std::array<std::byte, 10>& out, std::size_t n) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool inside = i >= 1 && i <= n;
      EXPECT_EQ(out[i], inside ? kBytes[i - 1] : std::byte{0xEE}) << n << " bytes, at " << i;
    }
  };
  expect(stored([](std::byte* p) { Store8(p, 0x81); }), 1);
  expect(stored([](std::byte* p) { StoreBe16(p, 0x8102); }), 2);
  expect(stored([](std::byte* p) { StoreBe24(p, 0x810203); }), 3);
  expect(stored([](std::byte* p) { StoreBe32(p, 0x81020304); }), 4);
  expect(stored([](std::byte* p) { StoreBe48(p, 0x810203040506); }), 6);
  expect(stored([](std::byte* p) { StoreBe64(p, 0x81020304050607F8); }), 8);
}

TEST(ByteOrder, StoresTheLowBitsOfWideValues) {
  std::array<std::byte, 6> out = {};
  StoreBe24(out.data(), 0xFF123456u);
  EXPECT_EQ(LoadBe24(out.data()), 0x123456u);
  StoreBe48(out.data(), 0xFFFF123456789ABCu);
  EXPECT_EQ(LoadBe48(out.data()), 0x123456789ABCu);
}

}  // namespace
}  // namespace dccp
