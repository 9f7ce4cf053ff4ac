// Initial sequence numbers at the end of the space and every size of Sequence Window.

#include <gtest/gtest.h>

#include <tuple>

#include "stack/sim/sim_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Param = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool>;
class SequenceExtremes : public ::testing::TestWithParam<Param> {};

TEST_P(SequenceExtremes, R4340_SEQ_08_FT_09_HandshakeDeliveryAndCloseHold) {
  const auto [client_iss, server_iss, window, lossy] = GetParam();
  SimPairConfig config;
  config.to_server = {.delay = milliseconds(10), .rate_bps = 20'000'000, .queue_packets = 40};
  config.to_client = {.delay = milliseconds(10)};
  if (lossy) config.to_server.loss = config.to_client.loss = 0.02;
  config.client.initial_sequence = SeqNo(client_iss);
  config.server.initial_sequence = SeqNo(server_iss);
  config.client.sequence_window = config.server.sequence_window = window;
  config.client.user_timeout = config.server.user_timeout = seconds(60);
  SimPair pair(config);
  pair.server.keep_data = false;
  ASSERT_TRUE(pair.Establish()) << pair.Log();
  EXPECT_EQ(*pair.client.endpoint().Feature(pair.client.conn, FeatureNumber::kSequenceWindow, true),
            window);
  std::uint32_t sent = 0;
  const TimePoint end = pair.now() + seconds(10);
  while (sent < 1000 && pair.now() < end) {
    while (sent < 1000 && pair.client.SendNumbered(sent, 500).ok()) ++sent;
    pair.Run(milliseconds(5));
  }
  EXPECT_EQ(sent, 1000u) << pair.Log();
  pair.RunUntil([&] { return pair.client.info().send_queue_datagrams == 0; }, seconds(10));
  ASSERT_TRUE(pair.client.Close().ok());
  ASSERT_TRUE(pair.RunUntilClosed(seconds(120))) << pair.Log();
  EXPECT_TRUE(pair.client.info().close.clean) << pair.Log();
  EXPECT_TRUE(pair.server.info().close.clean) << pair.Log();
  if (lossy) {
    EXPECT_GT(pair.server.received_datagrams, 900u);
  } else {
    EXPECT_EQ(pair.server.received_datagrams + pair.to_server().counters().queue_drops, 1000u);
  }
}

constexpr std::uint64_t kTop = SeqNo::kMask;

INSTANTIATE_TEST_SUITE_P(
    NearTheEnd, SequenceExtremes,
    ::testing::Combine(::testing::Values(0, kTop - 40, kTop),
                       ::testing::Values(std::uint64_t{1} << 47, kTop - 1, kTop - 700),
                       ::testing::Values(32, 100, 65536, (std::uint64_t{1} << 46) - 1),
                       ::testing::Bool()));

}  // namespace
}  // namespace dccp
