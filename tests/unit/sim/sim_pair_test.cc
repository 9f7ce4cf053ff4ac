#include "stack/sim/sim_pair.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "stack/base/byte_order.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SimPair, EstablishesInOneAndAHalfRoundTrips) {
  SimPair pair;
  ASSERT_TRUE(pair.Establish()) << pair.Log();
  EXPECT_LT(pair.now() - Simulator::kStart, milliseconds(60)) << pair.Log();
  EXPECT_EQ(pair.client.seen & kEventConnected, kEventConnected);
  EXPECT_EQ(pair.server.seen & kEventAccepted, kEventAccepted);
}

TEST(SimPair, CarriesDatagramsBothWaysInOrder) {
  SimPair pair;
  ASSERT_TRUE(pair.Establish()) << pair.Log();
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(pair.client.SendNumbered(i, 700).ok());
    ASSERT_TRUE(pair.server.SendNumbered(i, 4).ok());
  }
  pair.Run(seconds(5));
  ASSERT_EQ(pair.server.received.size(), 100u) << pair.Log();
  ASSERT_EQ(pair.client.received.size(), 100u) << pair.Log();
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(pair.server.received[i].size(), 700u);
    EXPECT_EQ(LoadBe32(pair.server.received[i].data()), i);
    EXPECT_EQ(LoadBe32(pair.client.received[i].data()), i);
  }
}

TEST(SimPair, ClosesCleanlyFromEitherSide) {
  for (const bool client_closes : {true, false}) {
    SimPair pair;
    ASSERT_TRUE(pair.Establish()) << pair.Log();
    SimPair::Side& closer = client_closes ? pair.client : pair.server;
    ASSERT_TRUE(closer.Close().ok());
    ASSERT_TRUE(pair.RunUntilClosed(seconds(10))) << pair.Log();
    EXPECT_TRUE(pair.client.info().close.clean) << pair.Log();
    EXPECT_TRUE(pair.server.info().close.clean) << pair.Log();
    EXPECT_EQ(pair.client.info().state, State::kTimeWait);
    EXPECT_EQ(pair.server.info().state, State::kClosed);
  }
}

TEST(SimPair, SameSeedSamePackets) {
  const auto run = [](std::uint64_t seed) {
    SimPairConfig config;
    config.seed = seed;
    config.to_server.loss = 0.1;
    config.to_server.jitter = milliseconds(3);
    SimPair pair(config);
    EXPECT_TRUE(pair.Establish()) << pair.Log();
    for (std::uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(pair.client.SendNumbered(i, 100).ok());
    pair.Run(seconds(5));
    return pair.Log();
  };
  const std::string first = run(7);
  EXPECT_EQ(first, run(7));
  EXPECT_NE(first, run(8));
}

TEST(SimPair, NativeOverIpv6) {
  SimPairConfig config;
  config.encapsulation = Encapsulation::kNative;
  config.family = IpFamily::kV6;
  SimPair pair(config);
  ASSERT_TRUE(pair.Establish()) << pair.Log();
  ASSERT_TRUE(pair.client.SendNumbered(9, 1000).ok());
  pair.Run(seconds(1));
  EXPECT_EQ(pair.server.received_bytes, 1000u) << pair.Log();
}

// What fails is to be read off the log.
TEST(SimPair, LogNamesPacketsAndFates) {
  SimPair pair;
  pair.to_server().SetHook([](const SimPacket&, std::uint64_t index) {
    return index == 0 ? LinkAction{LinkAction::Kind::kDrop} : LinkAction{};
  });
  ASSERT_TRUE(pair.Establish()) << pair.Log();
  const std::string log = pair.Log();
  EXPECT_NE(log.find("client>server  Request seq="), std::string::npos) << log;
  EXPECT_NE(log.find("[test drops]"), std::string::npos) << log;
  EXPECT_NE(log.find("server>client  Response seq="), std::string::npos) << log;
}

}  // namespace
}  // namespace dccp
