#include "stack/base/internet_checksum.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace dccp {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

TEST(InternetChecksum, IsThatOfTheExampleOfRfc1071) {
  const auto bytes = Bytes({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7});
  EXPECT_EQ(OnesSum(bytes), 0xddf2);
  EXPECT_EQ(InvertedSum(OnesSum(bytes)), 0x220d);
}

TEST(InternetChecksum, PadsAnOddLengthWithZero) {
  EXPECT_EQ(OnesSum(Bytes({0x12})), 0x1200);
  EXPECT_EQ(OnesSum(Bytes({0x12, 0x34, 0x56})), 0x1234 + 0x5600);
}

TEST(InternetChecksum, ContinuesAnotherSum) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 1501; ++i) bytes.push_back(static_cast<std::byte>(i * 37 + 11));
  const std::span<const std::byte> all = bytes;
  for (const std::size_t at : {std::size_t{2}, std::size_t{40}, std::size_t{1500}})
    EXPECT_EQ(OnesSum(all.subspan(at), OnesSum(all.first(at))), OnesSum(all)) << at;
  EXPECT_EQ(OnesSum({}, 0x12345), 0x2346);  // a sum that is not folded yet
}

TEST(InternetChecksum, LosesNoCarry) {
  const std::vector<std::byte> ones(65536, std::byte{0xff});
  EXPECT_EQ(OnesSum(ones), 0xffff);
}

}  // namespace
}  // namespace dccp
