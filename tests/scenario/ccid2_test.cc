// CCID 2 over a whole path: how well it fills one, how soon, what its acknowledgements cost, and
// what a packet and a feedback cost. RFC 4341

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/scenario/bulk_pair.h"
#include "tests/scenario/test_effort.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What a datagram of 1400 bytes takes of the path: DCCP with its options, UDP and IP.
constexpr double kPayloadShare = 1400.0 / 1448;

BulkConfig Ccid2(std::uint64_t rate_bps, Duration rtt) {
  BulkConfig config;
  config.ccid = CcidId::k2;
  config.one_way = rtt / 2;
  config.rate_bps = rate_bps;
  const auto rtt_us = static_cast<std::uint64_t>(rtt / std::chrono::microseconds(1));
  config.queue_packets = std::max<std::uint64_t>(10, rate_bps / 8 * rtt_us / 1'000'000 / 1448);
  return config;
}

double Utilisation(BulkPair& bulk, std::uint64_t rate_bps, Duration duration) {
  const std::uint64_t before = bulk.received_bytes();
  bulk.Run(duration);
  const double seconds_run = std::chrono::duration<double>(duration).count();
  return static_cast<double>(bulk.received_bytes() - before) * 8 / seconds_run /
         (static_cast<double>(rate_bps) * kPayloadShare);
}

// --------------------------------------------------------------------------------- utilisation ---

class Ccid2Fills : public ::testing::TestWithParam<std::tuple<std::uint64_t, int>> {};

// With a queue of one bandwidth-delay product half a window is a full path. What is measured spans
// several periods of the window where that takes seconds, else what is affordable.
TEST_P(Ccid2Fills, R4341_CWND_10_ABottleneckIsUsedTo95PerCent) {
  const auto [mbit, rtt_ms] = GetParam();
  const std::uint64_t rate = mbit * 1'000'000;
  BulkPair bulk(Ccid2(rate, milliseconds(rtt_ms)));
  ASSERT_TRUE(bulk.Establish());
  const Duration duration = mbit >= 1000 ? seconds(8) : (mbit >= 100 ? seconds(30) : seconds(100));
  bulk.Run(duration / 4);
  const double used = Utilisation(bulk, rate, duration / static_cast<int>(kEffortDivisor));
  RecordProperty("utilisation", std::to_string(used));
  // An instrumented build sees too little of a period of the window for a mean.
  if (kEffortDivisor == 1) {
    EXPECT_GE(used, 0.95);
  }
  EXPECT_GT(used, 0.1);
  EXPECT_LE(used, 1.02);
  EXPECT_EQ(bulk.stats().timeouts, 0u);
}

INSTANTIATE_TEST_SUITE_P(RateAndRtt, Ccid2Fills,
                         ::testing::Combine(::testing::Values(1u, 10u, 100u, 1000u),
                                            ::testing::Values(1, 20, 100)));

TEST(Ccid2Path, R4341_CWND_09_SlowStartReaches90PerCentWithinOneAndAHalfSeconds) {
  for (const bool pacing : {false, true}) {
    BulkConfig config = Ccid2(10'000'000, milliseconds(40));
    config.ccid2.pacing = pacing;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    double best = 0;
    Duration passed = Duration::zero();
    for (; passed < milliseconds(1500) && best < 0.9; passed += milliseconds(100))
      best = Utilisation(bulk, config.rate_bps, milliseconds(100));
    EXPECT_GE(best, 0.9) << pacing;
    RecordProperty(pacing ? "paced_ms" : "unpaced_ms", static_cast<int>(passed / milliseconds(1)));
  }
}

TEST(Ccid2Path, R4341_CWND_14_PacingFillsAPathWithAShortQueue) {
  BulkConfig config = Ccid2(100'000'000, milliseconds(40));
  config.queue_packets = 100;  // less than a third of the bandwidth-delay product
  double used[2];
  for (const bool pacing : {false, true}) {
    config.ccid2.pacing = pacing;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    bulk.Run(seconds(5));
    used[pacing ? 1 : 0] = Utilisation(bulk, config.rate_bps, seconds(20));
  }
  // Bursts overflow the queue long before the path is full.
  EXPECT_GT(used[1], 0.75);
  EXPECT_GE(used[1], used[0] - 0.02);
}

// ----------------------------------------------------------------- acknowledgements, windows ----

TEST(Ccid2Path, R4341_AR_04_AR_06_LostAcksLowerTheirNumberOnBothPaths) {
  BulkConfig config = Ccid2(20'000'000, milliseconds(40));
  config.both_ways = true;
  config.reverse_loss = 0.1;
  BulkPair bulk(config);
  // One way only: the acknowledgements of the client's data are pure Acks.
  config.both_ways = false;
  BulkPair one_way(config);
  for (BulkPair* pair : {&bulk, &one_way}) {
    ASSERT_TRUE(pair->Establish());
    pair->Run(seconds(20));
  }
  const SenderStats stats = one_way.stats();
  EXPECT_GT(stats.ack_ratio, 4u);
  EXPECT_LE(stats.ack_ratio, std::max(2.0, stats.cwnd_packets / 2 + 1));
  // The receiver has agreed, if not yet to the newest value.
  EXPECT_GT(*one_way.pair().server.endpoint().Feature(one_way.pair().server.conn,
                                                      FeatureNumber::kAckRatio, false),
            4u);
  // Losses of data are not losses of acknowledgements, NDP Count or not; both directions go on.
  EXPECT_GT(bulk.pair().client.received_bytes, 100'000u);
  EXPECT_GT(bulk.received_bytes(), 100'000u);
}

TEST(Ccid2Path, R4341_CWND_15_LNX_04_TheSequenceWindowFollowsTheWindowOnBothSides) {
  BulkConfig config = Ccid2(100'000'000, milliseconds(100));
  config.both_ways = true;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(8));
  for (SimPair::Side* side : {&bulk.pair().client, &bulk.pair().server}) {
    const auto window = *side->endpoint().Feature(side->conn, FeatureNumber::kSequenceWindow, true);
    const double cwnd = side->info().sender.cwnd_packets;
    EXPECT_GT(cwnd, 200);
    // Beyond that the window would be held back.
    EXPECT_GE(static_cast<double>(window) * 3 / 4, cwnd);
  }
  SimPair::Side& client = bulk.pair().client;
  SimPair::Side& server = bulk.pair().server;
  EXPECT_EQ(*client.endpoint().Feature(client.conn, FeatureNumber::kSequenceWindow, true),
            *server.endpoint().Feature(server.conn, FeatureNumber::kSequenceWindow, false));
  EXPECT_EQ(client.info().counters.syncs_sent, client.info().counters.mtu_probes);
}

TEST(Ccid2Path, R4341_AOA_01_ACK_02_TheReceiversVectorStaysBounded) {
  BulkConfig config = Ccid2(50'000'000, milliseconds(40));
  config.loss = 0.005;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  std::size_t longest = 0;
  bulk.pair().to_client().SetHook([&](const SimPacket& packet, std::uint64_t) {
    longest = std::max(longest, packet.bytes.size());
    return LinkAction{};
  });
  bulk.Run(seconds(20));
  // Every Ack covers the whole Acknowledgement Window, a round trip or two of data.
  EXPECT_LT(longest, 250u);
  EXPECT_GT(bulk.received_bytes(), 100'000u);
}

TEST(Ccid2Path, R4341_ECN_01_ARedQueueMarksAndLosesNothing) {
  BulkConfig config = Ccid2(10'000'000, milliseconds(40));
  BulkPair bulk(config);
  PathConfig path = bulk.pair().to_server().model().config();
  path.queue_packets = 200;
  path.red = RedConfig{.min_packets = 10, .max_packets = 30, .max_probability = 0.1};
  bulk.pair().to_server().model().Reconfigure(path);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(10));
  const std::uint64_t lost = bulk.pair().client.info().counters.data_packets_lost;
  const std::uint64_t marks = bulk.stats().mark_events;
  bulk.Run(seconds(30));
  EXPECT_EQ(bulk.pair().client.info().counters.data_packets_lost, lost);
  EXPECT_GT(bulk.stats().mark_events, marks + 5);
}

TEST(Ccid2Path, R4341_IDLE_01_IDLE_02_NoBurstAfterSilence) {
  BulkConfig config = Ccid2(50'000'000, milliseconds(40));
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(5));
  ASSERT_GT(bulk.stats().cwnd_packets, 100);
  bulk.Rest(seconds(60));
  const std::uint64_t before = bulk.sent_bytes();
  bulk.Fill(bulk.pair().client);
  // The initial window, RFC 3390's three packets of this size.
  EXPECT_LE(bulk.sent_bytes() - before, 3u * 1400);
  bulk.Run(seconds(1));
  EXPECT_GT(bulk.sent_bytes() - before, 1'000'000u);
}

// ------------------------------------------------------------------------------------- costs ----

TEST(Ccid2Path, NoTimerAndNoWakeUpForEachPacket) {
  // Packets that need no waiting: the path has no limit but the window. An event is a packet's
  // arrival or a wake-up.
  BulkConfig config = Ccid2(0, milliseconds(40));
  config.queue_packets = 0;
  config.ccid2.max_cwnd_packets = 400;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(5));
  Simulator& simulator = bulk.pair().simulator();
  const std::uint64_t events = simulator.events_run();
  const std::uint64_t packets =
      bulk.pair().to_server().counters().delivered + bulk.pair().to_client().counters().delivered;
  bulk.Run(seconds(20));
  const std::uint64_t arrived = bulk.pair().to_server().counters().delivered +
                                bulk.pair().to_client().counters().delivered - packets;
  const std::uint64_t wake_ups = simulator.events_run() - events - arrived;
  ASSERT_GT(arrived, 100'000u);
  // A retransmission timer that runs anew for each packet would make as many as there are packets.
  EXPECT_LT(wake_ups, arrived / 10);
}

}  // namespace
}  // namespace dccp
