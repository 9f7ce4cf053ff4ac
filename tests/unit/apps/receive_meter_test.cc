#include "apps/common/receive_meter.h"

#include <gtest/gtest.h>

#include <array>

#include "apps/common/stamp.h"

namespace dccp::apps {
namespace {

using std::chrono::milliseconds;

TimePoint At(int ms) { return TimePoint(milliseconds(ms)); }

class ReceiveMeterTest : public testing::Test {
 protected:
  void Arrive(std::uint32_t counter, int sent_ms, int arrived_ms) {
    std::array<std::byte, 100> payload = {};
    WriteStamp(payload, counter, At(sent_ms));
    meter_.Add({payload, SeqNo(1000 + counter), At(arrived_ms)});
  }

  ReceiveMeter meter_;
};

TEST_F(ReceiveMeterTest, KnowsNothingAtFirst) {
  EXPECT_EQ(meter_.packets(), 0u);
  EXPECT_EQ(meter_.lost(), std::nullopt);
  EXPECT_EQ(meter_.jitter_ms(), std::nullopt);
}

TEST_F(ReceiveMeterTest, CountsOrderAndLoss) {
  for (std::uint32_t counter : {0u, 1u, 4u, 3u, 6u}) Arrive(counter, 0, 10);
  EXPECT_EQ(meter_.packets(), 5u);
  EXPECT_EQ(meter_.bytes(), 500u);
  EXPECT_EQ(meter_.out_of_order(), 1u);
  EXPECT_EQ(meter_.lost(), 2u);  // 2 and 5
}

TEST_F(ReceiveMeterTest, CountsTheLossOfTheFirst) {
  Arrive(3, 0, 10);
  EXPECT_EQ(meter_.lost(), 3u);
}

TEST_F(ReceiveMeterTest, UnwrapsTheCounter) {
  for (std::uint32_t counter = 0; counter < 3; ++counter) Arrive(counter * 0x70000000u, 0, 10);
  EXPECT_EQ(meter_.lost(), std::uint64_t{2} * 0x70000000u + 1 - 3);
  Arrive(0x50000000u, 0, 10);  // beyond 2^32
  EXPECT_EQ(meter_.lost(), std::uint64_t{3} * 0x70000000u + 1 - 4);
}

// RFC 3550 §6.4.1: J += (|D| - J) / 16
TEST_F(ReceiveMeterTest, SmoothsJitter) {
  Arrive(0, 0, 10);
  EXPECT_EQ(meter_.jitter_ms(), 0.0);
  Arrive(1, 10, 36);
  EXPECT_DOUBLE_EQ(meter_.jitter_ms().value_or(-1), 1.0);
  Arrive(2, 20, 46);
  EXPECT_DOUBLE_EQ(meter_.jitter_ms().value_or(-1), 1.0 - 1.0 / 16);
}

TEST_F(ReceiveMeterTest, TellsNoLossOfPayloadWithoutStamps) {
  Arrive(0, 0, 10);
  const std::array<std::byte, 20> other = {};
  meter_.Add({other, SeqNo(2000), At(20)});
  EXPECT_EQ(meter_.packets(), 2u);
  EXPECT_EQ(meter_.lost(), std::nullopt);
  EXPECT_EQ(meter_.jitter_ms(), std::nullopt);
}

TEST(Stamp, WritesWhatFits) {
  std::array<std::byte, 16> room = {};
  WriteStamp(std::span(room).first(7), 5, At(1));
  EXPECT_FALSE(ReadStamp(std::span(room).first(7)).has_value());
  WriteStamp(std::span(room).first(8), 5, At(1));
  const auto counter_only = ReadStamp(std::span(room).first(8));
  ASSERT_TRUE(counter_only.has_value());
  EXPECT_EQ(counter_only->counter, 5u);
  EXPECT_FALSE(counter_only->time.has_value());
  WriteStamp(room, 6, At(7));
  EXPECT_EQ(ReadStamp(room)->time, At(7));
}

}  // namespace
}  // namespace dccp::apps
