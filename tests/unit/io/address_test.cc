#include <gtest/gtest.h>
#include <net/if.h>

#include "dccp/uv_driver.h"
#include "stack/io/socket_address.h"

namespace dccp {
namespace {

TEST(ParseAddress, TakesBothFamilies) {
  IpAddress address;
  ASSERT_TRUE(ParseAddress("192.0.2.7", &address));
  EXPECT_EQ(address.family, IpFamily::kV4);
  EXPECT_EQ(address.bytes[0], 192);
  EXPECT_EQ(address.bytes[3], 7);
  EXPECT_EQ(FormatAddress(address), "192.0.2.7");
  ASSERT_TRUE(ParseAddress("2001:DB8::0:1", &address));
  EXPECT_EQ(address.family, IpFamily::kV6);
  EXPECT_EQ(address.scope_id, 0u);
  EXPECT_EQ(FormatAddress(address), "2001:db8::1");
}

TEST(ParseAddress, TakesTheZoneOfALinkLocalAddress) {
  IpAddress address;
  const unsigned lo = ::if_nametoindex("lo");
  ASSERT_NE(lo, 0u);
  ASSERT_TRUE(ParseAddress("fe80::1%lo", &address));
  EXPECT_EQ(address.scope_id, lo);
  EXPECT_EQ(FormatAddress(address), "fe80::1%lo");
  ASSERT_TRUE(ParseAddress("fe80::1%4294967295", &address));
  EXPECT_EQ(address.scope_id, 4294967295u);
  EXPECT_EQ(FormatAddress(address), "fe80::1%4294967295");
}

TEST(ParseAddress, RefusesAnythingElse) {
  for (const char* text :
       {"", "host", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4%lo", "::1%lo", "fe80::1%",
        "fe80::1%no-such-interface", "fe80::1%0", ":::", "[::1]", " 1.2.3.4"}) {
    IpAddress address;
    address.bytes[0] = 99;
    EXPECT_FALSE(ParseAddress(text, &address)) << text;
    EXPECT_EQ(address.bytes[0], 99) << text;
  }
}

TEST(SocketAddress, KeepsAddressPortAndScope) {
  for (const char* text : {"192.0.2.7", "2001:db8::1", "fe80::1%lo"}) {
    IpAddress address;
    ASSERT_TRUE(ParseAddress(text, &address));
    const SocketAddress socket_address(address, 6511);
    EXPECT_EQ(socket_address.address(), address) << text;
    EXPECT_EQ(socket_address.port(), 6511);
  }
}

TEST(SocketAddress, PrintsAddressAndPort) {
  IpAddress address;
  ASSERT_TRUE(ParseAddress("::1", &address));
  EXPECT_EQ(SocketAddress(address, 80).ToString(), "[::1]:80");
  ASSERT_TRUE(ParseAddress("1.2.3.4", &address));
  EXPECT_EQ(SocketAddress(address, 80).ToString(), "1.2.3.4:80");
}

}  // namespace
}  // namespace dccp
