#include "stack/conn/short_seqno_policy.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(seconds(100));

TEST(ShortSeqnoPolicy, R4340_SEQ_21_SN_03_SmallWindowsOnly) {
  const ShortSeqnoPolicy policy(kMsl);
  EXPECT_TRUE(policy.Allows(100, 100));
  EXPECT_TRUE(policy.Allows(1u << 14, 1u << 14));
  EXPECT_FALSE(policy.Allows((1u << 14) + 1, 100));
  EXPECT_FALSE(policy.Allows(100, (1u << 14) + 1));
}

// The RFC's example: 1500-byte packets come round safely up to 800 Mb/s or so.
TEST(ShortSeqnoPolicy, R4340_SN_03_TheLimitIsTheRfcs) {
  const ShortSeqnoPolicy policy(kMsl);
  EXPECT_NEAR(static_cast<double>(policy.limit_packets_per_second()) * 1500 * 8, 800e6, 50e6);
}

TEST(ShortSeqnoPolicy, R4340_SN_03_NotOnAFastConnectionInEitherDirection) {
  for (const bool sending : {true, false}) {
    ShortSeqnoPolicy policy(kMsl);
    TimePoint now = kStart;
    const auto run = [&](Duration gap, Duration length) {
      for (const TimePoint end = now + length; now < end; now += gap)
        sending ? policy.OnSent(now) : policy.OnReceived(now);
    };
    run(microseconds(20), seconds(3));  // 50,000 a second
    EXPECT_TRUE(policy.Allows(100, 100));
    run(microseconds(10), seconds(2));  // 100,000 a second
    EXPECT_FALSE(policy.Allows(100, 100));
    // Slow again, and for a whole second before it is believed.
    run(microseconds(20), seconds(3));
    EXPECT_TRUE(policy.Allows(100, 100));
  }
}

TEST(ShortSeqnoPolicy, ASilenceIsSlow) {
  ShortSeqnoPolicy policy(kMsl);
  TimePoint now = kStart;
  for (int i = 0; i < 70'000; ++i) policy.OnSent(now += microseconds(5));
  EXPECT_FALSE(policy.Allows(100, 100));
  policy.OnSent(now += seconds(60));  // ends the fast second
  policy.OnSent(now += seconds(60));  // and this one the slow
  EXPECT_TRUE(policy.Allows(100, 100));
}

}  // namespace
}  // namespace dccp
