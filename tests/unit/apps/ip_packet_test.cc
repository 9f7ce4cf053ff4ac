#include "apps/common/ip_packet.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace dccp::apps {
namespace {

std::vector<std::byte> Make(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

// 192.0.2.1 > 192.0.2.2, protocol 33, TOS 3 (CE), four bytes of payload.
std::vector<std::byte> Ipv4() {
  return Make({0x45, 3, 0, 24, 0,   1, 0, 0, 64,   33,   0,    0,
               192,  0, 2, 1,  192, 0, 2, 2, 0xAA, 0xBB, 0xCC, 0xDD});
}

// 2001:db8::1 > 2001:db8::2, ECT(0), a Hop-by-Hop header, then protocol 33, two bytes of payload.
std::vector<std::byte> Ipv6() {
  auto b = Make({0x60, 0x20, 0, 0, 0, 10, 0, 63});
  for (unsigned last : {1u, 2u})
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned prefix[] = {0x20, 0x01, 0x0D, 0xB8};
      b.push_back(static_cast<std::byte>(i < 4 ? prefix[i] : (i == 15 ? last : 0)));
    }
  const auto rest = Make({33, 0, 1, 4, 0, 0, 0, 0, 0xAA, 0xBB});
  b.insert(b.end(), rest.begin(), rest.end());
  return b;
}

TEST(IpPacket, ReadsIpv4) {
  const auto bytes = Ipv4();
  IpPacket ip;
  ASSERT_TRUE(ParseIp(bytes, &ip));
  EXPECT_EQ(ip.protocol, 33);
  EXPECT_EQ(ip.ecn, Ecn::kCe);
  EXPECT_EQ(ip.src.bytes[3], 1);
  EXPECT_EQ(ip.dst.bytes[3], 2);
  EXPECT_EQ(ip.payload.size(), 4u);
  EXPECT_EQ(ip.payload_bytes, 4u);
  EXPECT_FALSE(ip.first_fragment || ip.later_fragment);
}

TEST(IpPacket, ReadsIpv6BehindExtensionHeaders) {
  const auto bytes = Ipv6();
  IpPacket ip;
  ASSERT_TRUE(ParseIp(bytes, &ip));
  EXPECT_EQ(ip.src.family, IpFamily::kV6);
  EXPECT_EQ(ip.protocol, 33);
  EXPECT_EQ(ip.ecn, Ecn::kEct0);
  EXPECT_EQ(ip.payload.size(), 2u);
  EXPECT_EQ(ip.payload_bytes, 2u);
}

TEST(IpPacket, KnowsFragments) {
  auto bytes = Ipv4();
  IpPacket ip;
  bytes[6] = std::byte{0x20};
  ASSERT_TRUE(ParseIp(bytes, &ip));
  EXPECT_TRUE(ip.first_fragment);
  bytes[7] = std::byte{1};
  ASSERT_TRUE(ParseIp(bytes, &ip));
  EXPECT_TRUE(ip.later_fragment);
}

TEST(IpPacket, NeverReadsBeyondATruncatedPacket) {
  for (const auto& whole : {Ipv4(), Ipv6()})
    for (std::size_t n = 0; n < whole.size(); ++n) {
      // An own allocation, so that a sanitizer sees a read past its end.
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(n));
      IpPacket ip;
      const bool parsed = ParseIp(cut, &ip);
      EXPECT_TRUE(!parsed || ip.payload.size() < ip.payload_bytes) << n;
    }
}

struct Link {
  std::uint32_t type;
  std::vector<std::byte> header;
};

TEST(IpPacket, StripsEveryLinkLayer) {
  const auto ip = Ipv4();
  std::vector<Link> links = {
      {0, Make({2, 0, 0, 0})},
      {108, Make({0, 0, 0, 2})},
      {101, {}},
      {228, {}},
      {1, Make({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0})},
      {1, Make({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 7, 8, 0})},
      {113, Make({0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0})},
      {276, Make({8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0})}};
  for (const Link& link : links) {
    EXPECT_TRUE(IsKnownLinkType(link.type));
    std::vector<std::byte> frame = link.header;
    frame.insert(frame.end(), ip.begin(), ip.end());
    EXPECT_EQ(StripLinkLayer(link.type, frame).size(), ip.size()) << link.type;
    for (std::size_t n = 0; n < link.header.size(); ++n) {
      const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<long>(n));
      EXPECT_TRUE(StripLinkLayer(link.type, cut).empty()) << link.type << " cut to " << n;
    }
  }
  EXPECT_FALSE(IsKnownLinkType(105));
}

TEST(IpPacket, TakesNoArpForIp) {
  auto frame = Make({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 6});
  const auto ip = Ipv4();
  frame.insert(frame.end(), ip.begin(), ip.end());
  EXPECT_TRUE(StripLinkLayer(1, frame).empty());
}

}  // namespace
}  // namespace dccp::apps
