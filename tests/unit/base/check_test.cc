#include "stack/base/check.h"

#include "gtest/gtest.h"

namespace dccp {
namespace {

TEST(CheckDeathTest, NamesTheConditionAndThePlace) {
  const int two = 2;
  EXPECT_DEATH(DCCP_CHECK(two == 3), "check_test.cc.*two == 3");
  EXPECT_DEATH(DCCP_UNREACHABLE(), "unreachable");
}

TEST(Check, EvaluatesItsConditionOnce) {
  int calls = 0;
  DCCP_CHECK(++calls > 0);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace dccp
