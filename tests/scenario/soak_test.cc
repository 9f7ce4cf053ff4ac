// Long runs, and what must not slow them down.

#include <gtest/gtest.h>

#include <vector>

#include "stack/sim/sim_pair.h"
#include "tests/scenario/back_to_back.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Soak, Bug_G4_AMillionPacketsBothWaysWithARoundTripOfZero) {
  constexpr std::uint64_t kGoal = 1'000'000;
  BackToBack pair(Encapsulation::kUdp);
  pair.Open();
  for (int rounds = 0; pair.read() < kGoal || pair.read_by_client() < kGoal; ++rounds) {
    ASSERT_LT(rounds, 1'000'000) << pair.read() << " and " << pair.read_by_client();
    pair.Fill(100);
    pair.FillBack(100);
    pair.Exchange();
  }
  // Nothing can be lost on such a path, so nothing is thought to be.
  for (const ConnectionInfo& info : {pair.ClientInfo(), pair.ServerInfo()}) {
    EXPECT_EQ(info.state, State::kOpen);
    EXPECT_EQ(info.counters.data_packets_lost, 0u);
    EXPECT_EQ(info.counters.duplicates, 0u);
    EXPECT_EQ(info.counters.sequence_invalid, 0u);
    EXPECT_EQ(info.sender.timeouts, 0u);
  }
}

// Datagrams that arrive in ten seconds over 20 Mb/s and 40 ms with a send queue of that length,
// once the window has grown.
std::uint64_t DeliveredWithQueueOf(std::uint32_t datagrams) {
  SimPairConfig config;
  config.to_server = {.delay = milliseconds(20), .rate_bps = 20'000'000};
  config.to_client = {.delay = milliseconds(20), .rate_bps = 20'000'000};
  config.client.send_queue_datagrams = datagrams;
  SimPair pair(config);
  EXPECT_TRUE(pair.Establish());
  pair.server.keep_data = false;
  const std::vector<std::byte> data(1000);
  // As an event loop does it: at the moment there is room, and again for as long as some leave.
  const auto fill = [&] {
    while (pair.client.Send(data).ok()) {
      while (pair.client.Send(data).ok()) continue;
      pair.client.node->Settle();
    }
    return false;
  };
  pair.RunUntil(fill, seconds(10));
  const std::uint64_t before = pair.server.received_datagrams;
  pair.RunUntil(fill, seconds(10));
  return pair.server.received_datagrams - before;
}

TEST(Throughput, Bug_G6_AShortSendQueueDoesNotThrottle) {
  const std::uint64_t wide = DeliveredWithQueueOf(200);
  const std::uint64_t narrow = DeliveredWithQueueOf(5);
  EXPECT_GT(wide, 22'000u);
  EXPECT_GT(narrow * 20, wide * 19) << narrow << " of " << wide;
}

}  // namespace
}  // namespace dccp
