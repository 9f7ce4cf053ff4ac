// The hot path allocates nothing: operator new is counted while two endpoints exchange packets.

#include <gtest/gtest.h>

#include "tests/scenario/back_to_back.h"
#include "tests/scenario/counting_new.h"

namespace dccp {
namespace {

class HotPath : public ::testing::TestWithParam<Encapsulation> {};

TEST_P(HotPath, AllocatesNothingOverAHundredThousandPackets) {
  BackToBack pair(GetParam());
  pair.Open();
  // Warm-up: windows, queues and histories reach their working size.
  while (pair.read() < 50'000) {
    pair.Fill(1000);
    pair.Exchange();
  }
  const std::uint64_t before = AllocationCount();
  const std::uint64_t goal = pair.read() + 100'000;
  while (pair.read() < goal) {
    pair.Fill(1000);
    pair.Exchange();
  }
  EXPECT_EQ(AllocationCount() - before, 0u);
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, HotPath,
                         ::testing::Values(Encapsulation::kUdp, Encapsulation::kNative));

}  // namespace
}  // namespace dccp
