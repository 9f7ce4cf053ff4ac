#include "stack/conn/odd_icmp.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

TEST(OddIcmp, R4340_MPS_07_MoreThanThreeMessagesAndMoreThanThreeLosses) {
  OddIcmp odd;
  EXPECT_FALSE(odd.OnTooBig(10));
  EXPECT_FALSE(odd.OnTooBig(20));
  EXPECT_FALSE(odd.OnTooBig(20));
  EXPECT_TRUE(odd.OnTooBig(20));
  // Counting begins anew.
  EXPECT_FALSE(odd.OnTooBig(30));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(odd.OnTooBig(33));
  EXPECT_TRUE(odd.OnTooBig(34));
}

}  // namespace
}  // namespace dccp
