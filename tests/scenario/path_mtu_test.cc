// A path that swallows large packets without a word, and changes what it swallows.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "stack/sim/sim_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A client that sends datagrams of the largest size that fits, at a steady pace.
class FullSizeFlow {
 public:
  explicit FullSizeFlow(const SimPairConfig& config) : pair(config), config_(config) {
    pair.to_server().SetBlackHole(true);
    pair.server.keep_data = false;
  }

  void SetPathMtu(std::uint32_t mtu) {
    PathConfig path = config_.to_server;
    path.mtu_bytes = mtu;
    pair.to_server().model().Reconfigure(path);
  }
  void RunFor(Duration duration, Duration pace = milliseconds(2)) {
    const TimePoint end = pair.now() + duration;
    while (pair.now() < end) {
      const std::vector<std::byte> data(pair.client.info().mps_bytes);
      if (pair.client.Send(data).ok()) pair.client.node->Settle();
      pair.Run(pace);
    }
  }
  // Datagrams that arrived and data that was reported lost meanwhile.
  std::pair<std::uint64_t, std::uint64_t> Measure(Duration duration) {
    const std::uint64_t received = pair.server.received_datagrams;
    const std::uint64_t lost = Lost();
    RunFor(duration);
    return {pair.server.received_datagrams - received, Lost() - lost};
  }
  std::uint64_t Lost() { return pair.client.info().counters.data_packets_lost; }
  std::uint32_t Mtu() { return pair.client.info().path_mtu_bytes; }

  SimPair pair;

 private:
  SimPairConfig config_;
};

class BlackHole
    : public ::testing::TestWithParam<std::tuple<Encapsulation, IpFamily, std::uint32_t>> {
 protected:
  static SimPairConfig Config() {
    SimPairConfig config;
    config.encapsulation = std::get<0>(GetParam());
    config.family = std::get<1>(GetParam());
    return config;
  }
};

TEST_P(BlackHole, R8899_SCENARIO_01_AFlowFindsItsSizeAndRecovers) {
  const std::uint32_t narrow = std::get<2>(GetParam());
  FullSizeFlow flow(Config());
  ASSERT_TRUE(flow.pair.Establish());
  flow.RunFor(seconds(2));
  EXPECT_EQ(flow.Mtu(), 1500u);
  EXPECT_EQ(flow.pair.client.info().counters.mtu_probes, 0u);
  const auto before = flow.Measure(seconds(2));
  EXPECT_EQ(before.second, 0u);

  flow.SetPathMtu(narrow);
  flow.RunFor(seconds(40));
  EXPECT_EQ(flow.Mtu(), narrow / 4 * 4);
  EXPECT_EQ(flow.pair.client.info().counters.mtu_black_holes, 1u);

  const std::uint64_t too_big = flow.pair.to_server().counters().too_big;
  const auto after = flow.Measure(seconds(10));
  EXPECT_EQ(after.second, 0u);
  EXPECT_EQ(flow.pair.to_server().counters().too_big, too_big);
  EXPECT_GE(after.first, before.first * 5 * 95 / 100);
  EXPECT_EQ(flow.pair.client.info().state, State::kOpen);

  // Once more narrower, where there is room below; then as wide as at first.
  if (narrow > 1300) {
    flow.SetPathMtu(1300);
    flow.RunFor(seconds(40));
    EXPECT_EQ(flow.Mtu(), 1300u);
  }
  flow.SetPathMtu(0);
  flow.RunFor(minutes(11), milliseconds(50));
  EXPECT_EQ(flow.Mtu(), 1500u);
  const auto wide = flow.Measure(seconds(5));
  EXPECT_EQ(wide.second, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, BlackHole,
    ::testing::Combine(::testing::Values(Encapsulation::kUdp, Encapsulation::kNative),
                       ::testing::Values(IpFamily::kV4, IpFamily::kV6),
                       ::testing::Values(1280u, 1402u, 1440u)),
    [](const auto& param) {
      return std::string(std::get<0>(param.param) == Encapsulation::kUdp ? "Udp" : "Native") +
             (std::get<1>(param.param) == IpFamily::kV4 ? "V4_" : "V6_") +
             std::to_string(std::get<2>(param.param));
    });

TEST(PathMtuScenario, R8899_SCENARIO_02_NarrowFromTheStartAndBelowTheBase) {
  FullSizeFlow flow({});
  flow.SetPathMtu(1000);
  ASSERT_TRUE(flow.pair.Establish());
  flow.RunFor(seconds(60));
  EXPECT_EQ(flow.Mtu(), 1000u);
  const auto after = flow.Measure(seconds(5));
  EXPECT_EQ(after.second, 0u);
  EXPECT_GT(after.first, 2000u);
}

TEST(PathMtuScenario, R8899_SCENARIO_03_LossWithoutABlackHoleKeepsTheSize) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimPairConfig config;
    config.seed = seed;
    config.to_server.loss = 0.05;
    FullSizeFlow flow(config);
    ASSERT_TRUE(flow.pair.Establish());
    flow.RunFor(seconds(20));
    EXPECT_EQ(flow.Mtu(), 1500u) << "seed " << seed;
    EXPECT_EQ(flow.pair.client.info().counters.mtu_black_holes, 0u);
  }
}

TEST(PathMtuScenario, R8899_SCENARIO_04_AnOutageKeepsTheSize) {
  FullSizeFlow flow({});
  ASSERT_TRUE(flow.pair.Establish());
  flow.RunFor(seconds(2));
  flow.pair.to_server().SetHook(
      [](const SimPacket&, std::uint64_t) { return LinkAction{LinkAction::Kind::kDrop}; });
  flow.RunFor(seconds(30), milliseconds(20));
  flow.pair.to_server().SetHook(nullptr);
  flow.RunFor(seconds(70), milliseconds(20));
  EXPECT_EQ(flow.Mtu(), 1500u);
  EXPECT_EQ(flow.pair.client.info().counters.mtu_black_holes, 0u);
  EXPECT_GT(flow.Measure(seconds(2)).first, 900u);
}

TEST(PathMtuScenario, R4340_MPS_06_ARouterThatSpeaksNeedsNoProbe) {
  FullSizeFlow flow({});
  flow.pair.to_server().SetBlackHole(false);
  ASSERT_TRUE(flow.pair.Establish());
  flow.RunFor(seconds(1));
  flow.SetPathMtu(1372);
  flow.RunFor(seconds(5));
  EXPECT_EQ(flow.Mtu(), 1372u);
  EXPECT_EQ(flow.pair.client.info().counters.mtu_probes, 0u);
}

TEST(PathMtuScenario, R4340_MPS_03_FragmentsPassANarrowPath) {
  SimPairConfig config;
  config.client.allow_fragmentation = true;
  SimPair pair(config);
  ASSERT_TRUE(pair.Establish());
  PathConfig narrow = config.to_server;
  narrow.mtu_bytes = 576;
  pair.to_server().model().Reconfigure(narrow);
  const std::vector<std::byte> large(20'000, std::byte{7});
  ASSERT_TRUE(pair.client.Send(large).ok());
  pair.client.node->Settle();
  pair.Run(seconds(1));
  ASSERT_EQ(pair.server.received.size(), 1u);
  EXPECT_EQ(pair.server.received[0], large);
}

}  // namespace
}  // namespace dccp
