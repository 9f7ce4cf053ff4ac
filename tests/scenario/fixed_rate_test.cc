// A user's own CCID between two endpoints: the example of ccid/experimental.

#include <gtest/gtest.h>

#include "ccid/experimental/fixed_rate.h"
#include "dccp/ccid2.h"
#include "stack/sim/sim_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Ccids {
  explicit Ccids(bool with_own) {
    registry.Add(ccid2);
    if (with_own) registry.Add(fixed);
  }
  Ccid2Factory ccid2;
  experimental::FixedRateFactory fixed{{.bytes_per_second = 250'000}};
  CcidRegistry registry;
};

SimPairConfig Config(const Ccids& client, const Ccids& server, double loss) {
  SimPairConfig config;
  config.to_server = {.delay = milliseconds(15), .loss = loss};
  config.to_client = {.delay = milliseconds(15), .loss = loss};
  config.client.tx_ccids = {experimental::kFixedRateId, CcidId::k2};
  config.server.rx_ccids = {experimental::kFixedRateId, CcidId::k2};
  config.endpoint.registry = &client.registry;
  config.server_endpoint = config.endpoint;
  config.server_endpoint->registry = &server.registry;
  return config;
}

// Keeps the queue filled; returns how many bytes arrived.
std::uint64_t Push(SimPair& pair, Duration duration) {
  const std::vector<std::byte> data(1000);
  const std::uint64_t before = pair.server.received_bytes;
  const TimePoint end = pair.now() + duration;
  while (pair.now() < end) {
    while (pair.client.Send(data).ok()) {
    }
    pair.client.node->Settle();
    pair.Run(milliseconds(10));
  }
  return pair.server.received_bytes - before;
}

TEST(FixedRate, TwoEndpointsAgreeOnItAndDataFlowsAtItsRate) {
  const Ccids client(true);
  const Ccids server(true);
  SimPair pair(Config(client, server, 0));
  pair.server.keep_data = false;
  ASSERT_TRUE(pair.Establish());
  EXPECT_EQ(pair.client.info().tx_ccid, experimental::kFixedRateId);
  EXPECT_EQ(pair.server.info().rx_ccid, experimental::kFixedRateId);
  Push(pair, seconds(1));
  EXPECT_NEAR(static_cast<double>(Push(pair, seconds(20))), 20 * 250'000.0, 2500);
  EXPECT_NEAR(pair.client.info().sender.loss_event_rate, 0, 0.01);
  ASSERT_TRUE(pair.client.Close().ok());
  EXPECT_TRUE(pair.RunUntilClosed(seconds(30)));
}

TEST(FixedRate, LossChangesNothingButTheFigureInItsOption) {
  const Ccids client(true);
  const Ccids server(true);
  SimPair pair(Config(client, server, 0.1));
  pair.server.keep_data = false;
  ASSERT_TRUE(pair.Establish());
  Push(pair, seconds(1));
  EXPECT_NEAR(static_cast<double>(Push(pair, seconds(40))), 0.9 * 40 * 250'000.0, 150'000);
  EXPECT_NEAR(pair.client.info().sender.loss_event_rate, 0.1, 0.02);
}

TEST(FixedRate, APeerWithoutItGetsTheNextWish) {
  const Ccids client(true);
  const Ccids server(false);
  SimPairConfig config = Config(client, server, 0);
  config.server.rx_ccids = {CcidId::k2};
  SimPair pair(config);
  ASSERT_TRUE(pair.Establish());
  EXPECT_EQ(pair.client.info().tx_ccid, CcidId::k2);
  EXPECT_GT(Push(pair, seconds(1)), 1'000'000u);
}

TEST(FixedRate, StopsWhereNobodyListensAndComesBack) {
  const Ccids client(true);
  const Ccids server(true);
  SimPair pair(Config(client, server, 0));
  pair.server.keep_data = false;
  ASSERT_TRUE(pair.Establish());
  Push(pair, seconds(2));
  pair.to_client().model().Reconfigure({.delay = milliseconds(15), .loss = 1});
  Push(pair, seconds(3));
  EXPECT_LE(Push(pair, seconds(10)), 11'000u);
  pair.to_client().model().Reconfigure({.delay = milliseconds(15)});
  Push(pair, seconds(2));
  EXPECT_NEAR(static_cast<double>(Push(pair, seconds(10))), 10 * 250'000.0, 5000);
}

}  // namespace
}  // namespace dccp
