// Thirty per cent of all packets lost, both ways, a thousand seeds: each connection is established,
// carries data and ends, or is given up by the timers; within 200 s, and both ends know.

#include <gtest/gtest.h>

#include "stack/sim/sim_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class HeavyLoss : public ::testing::TestWithParam<std::uint64_t> {};

struct Tally {
  int established = 0;
  int clean = 0;
  int given_up = 0;
};

void RunSeed(std::uint64_t seed, Tally* tally) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  SimPairConfig config;
  config.seed = seed;
  config.to_server = {.delay = milliseconds(20), .loss = 0.3};
  config.to_client = {.delay = milliseconds(20), .loss = 0.3};
  config.client.user_timeout = config.server.user_timeout = seconds(60);
  config.client.request_timeout = seconds(60);
  SimPair pair(config);
  ASSERT_TRUE(pair.Listen().ok());
  ASSERT_TRUE(pair.Connect().ok());
  const TimePoint start = pair.now();
  const bool established = pair.RunUntil(
      [&] { return pair.client.closed() || (pair.client.connected() && pair.server.connected()); },
      seconds(70));
  ASSERT_TRUE(established) << pair.Log();
  if (pair.client.closed()) {
    // Given up: the client knows; a server that had accepted must learn it too.
    ++tally->given_up;
    ASSERT_TRUE(pair.RunUntil([&] { return !pair.server.connected() || pair.server.closed(); },
                              seconds(130)))
        << pair.Log();
    return;
  }
  ++tally->established;
  std::uint32_t sent = 0;
  for (int i = 0; i < 40; ++i) {
    if (pair.client.closed() || pair.server.closed()) break;
    if (pair.client.SendNumbered(sent, 200).ok()) ++sent;
    pair.Run(milliseconds(100));
  }
  if (!pair.client.closed()) static_cast<void>(pair.client.Close(seconds(30)));
  ASSERT_TRUE(pair.RunUntilClosed(seconds(200) - (pair.now() - start)))
      << pair.Log() << "client state " << ToString(pair.client.info().state) << " server state "
      << ToString(pair.server.info().state);
  EXPECT_LE(pair.now() - start, seconds(200));
  EXPECT_LE(pair.server.received_datagrams, sent);
  if (pair.client.info().close.clean && pair.server.info().close.clean) ++tally->clean;
  if (sent > 20) {
    EXPECT_GT(pair.server.received_datagrams, 0u) << pair.Log();
  }
}

TEST_P(HeavyLoss, R4340_CON_02_CLS_03_EstablishedAndEndedOrGivenUpAndBothKnow) {
  Tally tally;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 100 && !HasFatalFailure(); ++seed)
    RunSeed(seed, &tally);
  // With retransmission nearly all come up, and nearly all of those end in order.
  EXPECT_GE(tally.established, 97);
  EXPECT_GE(tally.clean, tally.established * 8 / 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HeavyLoss,
                         ::testing::Values(1, 101, 201, 301, 401, 501, 601, 701, 801, 901));

}  // namespace
}  // namespace dccp
