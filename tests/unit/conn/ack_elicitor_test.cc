#include "stack/conn/ack_elicitor.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kLong = AckElicitor::kLongBytes;
constexpr Duration kRtt = milliseconds(100);

TEST(AckElicitor, R4340_ACK_05_AShortVectorNeedsNoAcknowledgement) {
  AckElicitor elicitor;
  EXPECT_FALSE(elicitor.Due(kLong - 1, TimePoint(seconds(1)), kRtt));
  EXPECT_TRUE(elicitor.Due(kLong, TimePoint(seconds(1)), kRtt));
}

TEST(AckElicitor, R4340_ACK_05_AsksEverLessOftenInVain) {
  AckElicitor elicitor;
  int asked = 0;
  for (int i = 0; i < 100'000; ++i)
    asked += elicitor.Due(kLong, TimePoint(seconds(1) + milliseconds(i)), kRtt) ? 1 : 0;
  // 0, 0.2, 0.6, 1.4, 3, 6.2, 12.6 s, then every 10 s.
  EXPECT_EQ(asked, 7 + 8);
}

TEST(AckElicitor, R4340_ACK_05_AnAnswerEndsTheBackOffButNotTheLeastInterval) {
  AckElicitor elicitor;
  TimePoint now(seconds(1));
  for (int i = 0; i < 20'000; ++i, now += milliseconds(1)) elicitor.Due(kLong, now, kRtt);
  elicitor.OnAckOfAck();
  int asked = 0;
  for (int i = 0; i < 200; ++i, now += milliseconds(1)) {
    elicitor.OnAckOfAck();
    asked += elicitor.Due(kLong, now, kRtt) ? 1 : 0;
  }
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace dccp
