#include "stack/io/port_claims.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

constexpr std::uint16_t kPort = 40123;

TEST(PortClaims, TwoProgramsCannotHaveOnePort) {
  PortClaims a, b;
  ASSERT_TRUE(a.Claim(kPort));
  EXPECT_FALSE(b.Claim(kPort));
  EXPECT_TRUE(b.TakenElsewhere(kPort));
  EXPECT_FALSE(a.TakenElsewhere(kPort));
  EXPECT_FALSE(b.TakenElsewhere(kPort + 1));
}

TEST(PortClaims, OneProgramClaimsAsOftenAsItLikes) {
  PortClaims a, b;
  ASSERT_TRUE(a.Claim(kPort));
  ASSERT_TRUE(a.Claim(kPort));
  a.Release(kPort);
  EXPECT_TRUE(b.TakenElsewhere(kPort));
  a.Release(kPort);
  EXPECT_FALSE(b.TakenElsewhere(kPort));
  EXPECT_TRUE(b.Claim(kPort));
}

TEST(PortClaims, AClaimEndsWithItsOwner) {
  PortClaims b;
  {
    PortClaims a;
    ASSERT_TRUE(a.Claim(kPort));
  }
  EXPECT_TRUE(b.Claim(kPort));
}

}  // namespace
}  // namespace dccp
