#include "stack/conn/path_mtu.h"

#include <gtest/gtest.h>

#include <array>

namespace dccp {
namespace {

PathMtu::Config Native(IpFamily family) {
  PathMtu::Config config;
  config.family = family;
  config.encapsulation = Encapsulation::kNative;
  return config;
}

TEST(PathMtu, R4340_MPS_01_MtuLessAllHeaders) {
  struct Row {
    IpFamily family;
    Encapsulation encapsulation;
    std::uint32_t mps;
  };
  const std::array<Row, 4> rows = {{{IpFamily::kV4, Encapsulation::kNative, 1500 - 20 - 24 - 32},
                                    {IpFamily::kV6, Encapsulation::kNative, 1500 - 40 - 24 - 32},
                                    {IpFamily::kV4, Encapsulation::kUdp, 1500 - 28 - 24 - 32},
                                    {IpFamily::kV6, Encapsulation::kUdp, 1500 - 48 - 24 - 32}}};
  for (const Row& row : rows) {
    PathMtu::Config config;
    config.family = row.family;
    config.encapsulation = row.encapsulation;
    EXPECT_EQ(PathMtu(config).mps_bytes(), row.mps);
  }
}

TEST(PathMtu, R4340_MPS_01_CcmpsLimitsThePayload) {
  PathMtu::Config config;
  config.ccmps_bytes = 1000;
  PathMtu path(config);
  EXPECT_EQ(path.mps_bytes(), 1000u);
  EXPECT_TRUE(path.SetCcmps(0));
  EXPECT_EQ(path.mps_bytes(), 1416u);
  EXPECT_FALSE(path.SetCcmps(9000));
}

TEST(PathMtu, Bug_C25_ADatagramOfExactlyMpsLeavesRoomForAnAckVector) {
  // Figures for native IPv4 and IPv6 with an MTU of 1500.
  PathMtu v4(Native(IpFamily::kV4));
  PathMtu v6(Native(IpFamily::kV6));
  EXPECT_EQ(v4.mps_bytes(), 1424u);
  EXPECT_EQ(v6.mps_bytes(), 1404u);
  EXPECT_EQ(v4.RoomForHeaders(v4.mps_bytes()), PathMtu::kHeaderBytes + 32);
  EXPECT_EQ(v4.RoomForHeaders(2000), 0u);
}

TEST(PathMtu, ReserveIsRoundedUpToTheQuantum) {
  PathMtu::Config config = Native(IpFamily::kV4);
  config.quantum = 16;
  PathMtu path(config);
  EXPECT_TRUE(path.SetReserve(33));
  EXPECT_EQ(path.mps_bytes(), 1500u - 20 - 24 - 48);
  EXPECT_FALSE(path.SetReserve(48));
}

TEST(PathMtu, R4340_MPS_06_LowerNextHopMtuIsAdopted) {
  PathMtu path(Native(IpFamily::kV4));
  EXPECT_TRUE(path.OnTooBig(600));
  EXPECT_EQ(path.pmtu(), 600u);
  EXPECT_EQ(path.mps_bytes(), 524u);
}

TEST(PathMtu, R4340_MPS_06_GreaterMtuIsIgnored) {
  PathMtu path(Native(IpFamily::kV4));
  EXPECT_FALSE(path.OnTooBig(9000));
  EXPECT_FALSE(path.OnTooBig(1500));
  path.OnTooBig(1000);
  EXPECT_FALSE(path.OnTooBig(1400));
  EXPECT_EQ(path.pmtu(), 1000u);
}

TEST(PathMtu, R4340_MPS_06_ZeroSearchesThePlateaus) {
  PathMtu path(Native(IpFamily::kV4));
  for (const std::uint32_t expected : {1492u, 1006u, 508u, 296u, 68u}) {
    path.OnTooBig(0);
    EXPECT_EQ(path.pmtu(), expected);
  }
  EXPECT_FALSE(path.OnTooBig(0));
  EXPECT_EQ(path.mps_bytes(), 0u);
}

TEST(PathMtu, R4340_MPS_06_ZeroWithAQuotedLengthStartsFromThat) {
  PathMtu path(Native(IpFamily::kV4));
  path.OnTooBig(0, 1200);
  EXPECT_EQ(path.pmtu(), 1006u);
}

TEST(PathMtu, ValuesBelowTheLeastMtuAreIgnored) {
  PathMtu v4(Native(IpFamily::kV4));
  EXPECT_FALSE(v4.OnTooBig(67));
  EXPECT_TRUE(v4.OnTooBig(68));
  PathMtu v6(Native(IpFamily::kV6));
  EXPECT_FALSE(v6.OnTooBig(1279));
  EXPECT_FALSE(v6.OnTooBig(0));
  EXPECT_TRUE(v6.OnTooBig(1280));
}

TEST(PathMtu, R4340_MPS_09_ProbesRaiseUpToTheInterfaceMtu) {
  PathMtu path(Native(IpFamily::kV4));
  path.OnTooBig(600);
  EXPECT_TRUE(path.OnProbeAcked(1200));
  EXPECT_EQ(path.pmtu(), 1200u);
  EXPECT_FALSE(path.OnProbeAcked(1100));
  EXPECT_FALSE(path.OnProbeAcked(1501));
}

TEST(PathMtu, R8899_BLACKHOLE_04_ABlackHoleLowersButNeverBelowTheFloor) {
  PathMtu path(Native(IpFamily::kV6));
  EXPECT_FALSE(path.OnBlackHole(1279));
  EXPECT_FALSE(path.OnBlackHole(1500));
  EXPECT_TRUE(path.OnBlackHole(1280));
  EXPECT_EQ(path.pmtu(), 1280u);
  EXPECT_EQ(path.interface_mtu(), 1500u);
}

TEST(PathMtu, R4340_FT_07_AnotherPathStartsFromItsInterface) {
  const TimePoint now(std::chrono::seconds(10));
  PathMtu path(Native(IpFamily::kV4));
  path.OnTooBig(600);
  EXPECT_TRUE(path.Rediscover(now));
  EXPECT_TRUE(path.Restart(9000));
  EXPECT_EQ(path.pmtu(), 9000u);
  EXPECT_TRUE(path.Rediscover(now));
  EXPECT_TRUE(path.Restart(20));
  EXPECT_EQ(path.pmtu(), 68u);
}

TEST(PathMtu, R4340_MPS_03_FragmentsReachTheCcmpsAndTheGreatestIpPacket) {
  PathMtu::Config config;
  config.fragment = true;
  PathMtu path(config);
  EXPECT_EQ(path.mps_bytes(), 65535u - 28 - 24 - 32);
  EXPECT_EQ(path.pmtu(), 1500u);
  EXPECT_FALSE(path.OnTooBig(1400)) << "the MPS does not follow";
  EXPECT_EQ(path.pmtu(), 1400u);
  EXPECT_TRUE(path.SetCcmps(4000));
  EXPECT_EQ(path.mps_bytes(), 4000u);
  EXPECT_EQ(path.RoomForHeaders(4000), 65535u - 28 - 4000);
}

TEST(PathMtu, AnApplicationsLimitHoldsWhateverTheInterface) {
  EXPECT_EQ(LimitedMtu(1500, 0), 1500u);
  EXPECT_EQ(LimitedMtu(1500, 1280), 1280u);
  EXPECT_EQ(LimitedMtu(1280, 1500), 1280u);
}

TEST(PathMtu, R4340_MPS_09_RediscoveryIsLimitedToOneInTwoSeconds) {
  const TimePoint now(std::chrono::seconds(10));
  PathMtu path(Native(IpFamily::kV4));
  path.OnTooBig(600);
  EXPECT_TRUE(path.Rediscover(now));
  EXPECT_EQ(path.pmtu(), 1500u);
  path.OnTooBig(600);
  EXPECT_FALSE(path.Rediscover(now + std::chrono::milliseconds(1999)));
  EXPECT_EQ(path.pmtu(), 600u);
  EXPECT_TRUE(path.Rediscover(now + std::chrono::seconds(2)));
}

}  // namespace
}  // namespace dccp
