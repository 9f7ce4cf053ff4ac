#include "stack/wire/data_dropped_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;
using ::testing::ElementsAre;

std::vector<DataDroppedBlock> Blocks(const Bytes& data) {
  std::vector<DataDroppedBlock> out;
  DataDroppedReader reader(data);
  for (DataDroppedBlock block; reader.Next(&block);) out.push_back(block);
  return out;
}

// RFC 4340 §11.7, at Acknowledgement Number 100: 100 fine, 99 dropped (receive buffer), 98-95 fine,
// 94-92 dropped (receive buffer).
TEST(DataDroppedCodec, R4340_DD_01_ExampleOfTheRfc) {
  EXPECT_THAT(Blocks(ToBytes({0, 160, 3, 162})),
              ElementsAre(DataDroppedBlock{false, 0, 1}, DataDroppedBlock{true, 2, 1},
                          DataDroppedBlock{false, 0, 4}, DataDroppedBlock{true, 2, 3}));
}

TEST(DataDroppedCodec, R4340_DD_01_EveryByteRoundTrips) {
  for (unsigned v = 0; v < 256; ++v) {
    const auto b = static_cast<std::byte>(v);
    const DataDroppedBlock block = DecodeDataDroppedBlock(b);
    EXPECT_EQ(block.dropped, v >= 128);
    EXPECT_EQ(block.code, v >= 128 ? (v >> 4) - 8 : 0u);
    EXPECT_EQ(block.packets, v >= 128 ? (v & 15) + 1 : v + 1);
    EXPECT_EQ(EncodeDataDroppedBlock(block), b);
  }
}

TEST(DataDroppedCodec, R4340_DD_15_LongRunsTakeMoreBlocks) {
  Bytes out(8);
  std::uint64_t packets = 200;
  std::size_t n = EncodeDataDroppedRun(false, 0, &packets, out);
  EXPECT_EQ(ToHex(std::span(out).first(n)), "7f47");
  EXPECT_EQ(packets, 0u);
  packets = 40;
  n = EncodeDataDroppedRun(true, 7, &packets, out);
  EXPECT_EQ(ToHex(std::span(out).first(n)), "fffff7");
  EXPECT_EQ(packets, 0u);
}

TEST(DataDroppedCodec, TellsWhatDidNotFit) {
  Bytes out(2);
  std::uint64_t packets = 40;
  EXPECT_EQ(EncodeDataDroppedRun(true, 1, &packets, out), 2u);
  EXPECT_EQ(packets, 8u);
  EXPECT_EQ(EncodeDataDroppedRun(true, 1, &packets, {}), 0u);
  EXPECT_EQ(packets, 8u);
  packets = 0;
  EXPECT_EQ(EncodeDataDroppedRun(true, 1, &packets, out), 0u);
}

TEST(DataDroppedCodec, LargestOptionCovers32384Packets) {
  Bytes out(kMaxBlocksPerDataDropped);
  std::uint64_t packets = 32384;
  EXPECT_EQ(EncodeDataDroppedRun(false, 0, &packets, out), 253u);
  EXPECT_EQ(packets, 0u);
}

}  // namespace
}  // namespace dccp
