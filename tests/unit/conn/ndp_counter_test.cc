#include "stack/conn/ndp_counter.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace dccp {
namespace {

TEST(NdpCounter, R4340_NDP_02_CountsTheExampleSequence) {
  NdpCounter counter;
  std::vector<std::uint64_t> counts;
  for (const char c : std::string_view("NNDNDDNDDDDNND")) {
    counts.push_back(counter.next());
    counter.OnSent(c == 'N' ? PacketType::kAck : PacketType::kData);
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 2}));
}

TEST(NdpCounter, R4340_NDP_03_WhichTypesAreNonData) {
  for (const PacketType type : {PacketType::kAck, PacketType::kClose, PacketType::kCloseReq,
                                PacketType::kReset, PacketType::kSync, PacketType::kSyncAck}) {
    NdpCounter counter;
    counter.OnSent(type);
    EXPECT_EQ(counter.next(), 1u) << ToString(type);
  }
  for (const PacketType type :
       {PacketType::kRequest, PacketType::kResponse, PacketType::kData, PacketType::kDataAck}) {
    NdpCounter counter;
    counter.OnSent(PacketType::kAck);
    counter.OnSent(type);
    EXPECT_EQ(counter.next(), 0u) << ToString(type);
  }
}

TEST(NdpCounter, R4340_NDP_05_DataIsLostUnlessTheCountSpansTheGap) {
  EXPECT_TRUE(NdpCounter::DataLost(1, 0));
  EXPECT_TRUE(NdpCounter::DataLost(3, 2));
  EXPECT_FALSE(NdpCounter::DataLost(3, 3));
  EXPECT_FALSE(NdpCounter::DataLost(2, 5));
}

}  // namespace
}  // namespace dccp
