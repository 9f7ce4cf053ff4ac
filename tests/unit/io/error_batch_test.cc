#include "stack/io/error_batch.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

sock_extended_err Error(std::uint8_t origin, std::uint8_t type, std::uint8_t code) {
  sock_extended_err error = {};
  error.ee_origin = origin;
  error.ee_type = type;
  error.ee_code = code;
  return error;
}

TEST(IcmpKindOf, ReadsIcmpForIpv4) {
  const auto kind = [](std::uint8_t type, std::uint8_t code) {
    return IcmpKindOf(Error(SO_EE_ORIGIN_ICMP, type, code));
  };
  EXPECT_EQ(kind(3, 0), IcmpKind::kNetUnreachable);
  EXPECT_EQ(kind(3, 1), IcmpKind::kHostUnreachable);
  EXPECT_EQ(kind(3, 2), IcmpKind::kProtocolUnreachable);
  EXPECT_EQ(kind(3, 3), IcmpKind::kPortUnreachable);
  EXPECT_EQ(kind(3, 4), IcmpKind::kTooBig);
  EXPECT_EQ(kind(3, 7), IcmpKind::kHostUnreachable);
  EXPECT_EQ(kind(3, 13), IcmpKind::kAdminProhibited);
  EXPECT_EQ(kind(11, 0), IcmpKind::kTimeExceeded);
  EXPECT_EQ(kind(12, 0), IcmpKind::kParameterProblem);
  EXPECT_EQ(kind(0, 0), std::nullopt);
}

TEST(IcmpKindOf, ReadsIcmpForIpv6) {
  const auto kind = [](std::uint8_t type, std::uint8_t code) {
    return IcmpKindOf(Error(SO_EE_ORIGIN_ICMP6, type, code));
  };
  EXPECT_EQ(kind(1, 0), IcmpKind::kNetUnreachable);
  EXPECT_EQ(kind(1, 1), IcmpKind::kAdminProhibited);
  EXPECT_EQ(kind(1, 3), IcmpKind::kHostUnreachable);
  EXPECT_EQ(kind(1, 4), IcmpKind::kPortUnreachable);
  EXPECT_EQ(kind(2, 0), IcmpKind::kTooBig);
  EXPECT_EQ(kind(3, 0), IcmpKind::kTimeExceeded);
  EXPECT_EQ(kind(4, 0), IcmpKind::kParameterProblem);
  EXPECT_EQ(kind(4, 1), IcmpKind::kProtocolUnreachable);
  EXPECT_EQ(kind(129, 0), std::nullopt);
}

TEST(IcmpKindOf, IgnoresWhatIsNoIcmp) {
  EXPECT_EQ(IcmpKindOf(Error(SO_EE_ORIGIN_TIMESTAMPING, 3, 3)), std::nullopt);
  EXPECT_EQ(IcmpKindOf(Error(SO_EE_ORIGIN_LOCAL, 3, 3)), std::nullopt);
}

}  // namespace
}  // namespace dccp
