#include "stack/io/interface_mtu.h"

#include <fstream>

#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

std::uint32_t LoopbackMtu() {
  std::uint32_t mtu = 0;
  std::ifstream("/sys/class/net/lo/mtu") >> mtu;
  return mtu;
}

TEST(InterfaceMtu, R4340_MPS_05_StartsFromTheInterfaceAndFitsTheLengthField) {
  ASSERT_GT(LoopbackMtu(), 0u);
  InterfaceMtu source;
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    Path path;
    path.local = path.remote = LoopbackAddress(family);
    // The second answer comes from memory.
    EXPECT_EQ(source.InitialMtu(path), std::min(LoopbackMtu(), 65535u));
    EXPECT_EQ(source.InitialMtu(path), std::min(LoopbackMtu(), 65535u));
  }
}

TEST(InterfaceMtu, AssumesEthernetWhereTheKernelHasNoAnswer) {
  InterfaceMtu source;
  Path path;
  path.local = path.remote = Address("240.0.0.1");  // reserved: never routed from 240.0.0.1
  EXPECT_LE(source.InitialMtu(path), 65535u);
  path.remote = Address("255.255.255.255");  // connect() refuses broadcast
  EXPECT_EQ(source.InitialMtu(path), 1500u);
}

TEST(InterfaceMtu, RemembersABoundedNumberOfRemotes) {
  InterfaceMtu source;
  Path path;
  path.local = Address("127.0.0.1");
  for (unsigned i = 1; i < 200; ++i) {
    path.remote = Address("127.0.1.0");
    path.remote.bytes[3] = static_cast<std::uint8_t>(i);
    EXPECT_EQ(source.InitialMtu(path), std::min(LoopbackMtu(), 65535u));
  }
}

}  // namespace
}  // namespace dccp
