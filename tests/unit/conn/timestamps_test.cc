#include "stack/conn/timestamps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "stack/wire/option_codec.h"
#include "tests/unit/conn/ack_vector_util.h"

namespace dccp {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint At(Duration d) { return TimePoint(d); }

class TimestampsTest : public ::testing::Test {
 protected:
  void Send(TimePoint now) {
    OptionWriter out(bytes_);
    EXPECT_TRUE(timestamps_.WriteTimestamp(out, now));
  }
  std::vector<std::byte> Echo(TimePoint now) {
    OptionWriter out(bytes_);
    if (!timestamps_.WriteEcho(out, now)) return {};
    return SplitOptions(out.bytes())[0].data;
  }

  std::array<std::byte, 32> bytes_;
  Timestamps timestamps_;
};

TEST_F(TimestampsTest, R4340_TIM_01_UnitIsTenMicroseconds) {
  EXPECT_EQ(Timestamps::Value(At(microseconds(12345678))), 1234567u);
  OptionWriter out(bytes_);
  timestamps_.WriteTimestamp(out, At(microseconds(0x01020304 * std::int64_t{10})));
  EXPECT_THAT(std::vector<std::byte>(out.bytes().begin(), out.bytes().end()),
              ::testing::ElementsAre(std::byte{41}, std::byte{6}, std::byte{1}, std::byte{2},
                                     std::byte{3}, std::byte{4}));
}

TEST_F(TimestampsTest, R4340_TIM_01_LNX_13_ValueWrapsAndIsNeverZero) {
  const Duration range = microseconds(10) * (std::int64_t{1} << 32);
  EXPECT_EQ(Timestamps::Value(At(Duration::zero())), 1u);
  EXPECT_EQ(Timestamps::Value(At(range)), 1u);
  EXPECT_EQ(Timestamps::Value(At(range + microseconds(50))), 5u);
}

TEST_F(TimestampsTest, R4340_TIM_02_EchoesOnce) {
  EXPECT_FALSE(timestamps_.pending());
  timestamps_.OnTimestamp(7, Seq64(1), At(seconds(1)));
  EXPECT_TRUE(timestamps_.pending());
  EXPECT_EQ(DecodeTimestampEcho(Echo(At(seconds(1))))->timestamp.ticks(), 7u);
  EXPECT_FALSE(timestamps_.pending());
  EXPECT_TRUE(Echo(At(seconds(1))).empty());
}

TEST_F(TimestampsTest, R4340_TIM_06_SmallestFormAndRoundedDown) {
  const std::array<std::pair<Duration, std::size_t>, 5> rows = {{{microseconds(9), 4},
                                                                 {microseconds(10), 6},
                                                                 {microseconds(655359), 6},
                                                                 {microseconds(655360), 8},
                                                                 {seconds(100), 8}}};
  for (const auto& [elapsed, bytes] : rows) {
    timestamps_.OnTimestamp(7, Seq64(1), At(seconds(1)));
    const auto data = Echo(At(seconds(1)) + elapsed);
    EXPECT_EQ(data.size(), bytes);
    const Duration told = DecodeTimestampEcho(data)->elapsed.ToDuration();
    EXPECT_LE(told, elapsed);
    EXPECT_LT(elapsed - told, microseconds(10));
  }
}

TEST_F(TimestampsTest, R4340_TIM_07_EchoesThatOfTheGreatestNumber) {
  timestamps_.OnTimestamp(20, Seq64(2), At(seconds(1)));
  timestamps_.OnTimestamp(10, Seq64(1), At(seconds(2)));
  EXPECT_EQ(DecodeTimestampEcho(Echo(At(seconds(2))))->timestamp.ticks(), 20u);
  timestamps_.OnTimestamp(10, Seq64(1), At(seconds(3)));
  EXPECT_FALSE(timestamps_.pending());
}

TEST_F(TimestampsTest, EchoStaysPendingWithoutRoom) {
  timestamps_.OnTimestamp(7, Seq64(1), At(seconds(1)));
  OptionWriter out(std::span<std::byte>(bytes_).first(4));
  EXPECT_FALSE(timestamps_.WriteEcho(out, At(seconds(1))));
  EXPECT_TRUE(timestamps_.pending());
}

TEST_F(TimestampsTest, R4340_TIM_08_SampleIsNowLessEchoLessElapsed) {
  const TimePoint sent = At(seconds(5));
  Send(sent);
  EXPECT_EQ(timestamps_.OnEcho(Timestamps::Value(sent), milliseconds(30), sent + milliseconds(80)),
            milliseconds(50));
}

TEST_F(TimestampsTest, R4340_TIM_08_SampleAcrossTheWrap) {
  const Duration range = microseconds(10) * (std::int64_t{1} << 32);
  const TimePoint sent = At(range - milliseconds(20));
  Send(sent);
  EXPECT_EQ(timestamps_.OnEcho(Timestamps::Value(sent), Duration::zero(), sent + milliseconds(60)),
            milliseconds(60));
}

TEST_F(TimestampsTest, EchoThatCannotBeOursGivesNoSample) {
  const TimePoint now = At(seconds(100));
  const std::uint32_t value = Timestamps::Value(now);
  EXPECT_FALSE(timestamps_.OnEcho(value, Duration::zero(), now).has_value());  // none was sent
  Send(now);
  EXPECT_FALSE(timestamps_.OnEcho(value + 100, Duration::zero(), now).has_value());
  EXPECT_FALSE(timestamps_.OnEcho(value, seconds(1), now + milliseconds(10)).has_value());
  // From before the first that we sent: a peer must not talk us into a round trip of hours.
  EXPECT_FALSE(timestamps_.OnEcho(value - 10'000, Duration::zero(), now).has_value());
  EXPECT_FALSE(timestamps_.OnEcho(value - 2, Duration::zero(), now + seconds(9)).has_value());
  EXPECT_EQ(timestamps_.OnEcho(value, Duration::zero(), now), microseconds(10));
}

}  // namespace
}  // namespace dccp
