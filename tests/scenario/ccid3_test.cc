// CCID 3 over a whole path: the throughput equation, fairness, silence, heavy loss, no round trip.
// RFC 4342, RFC 5348

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "tests/scenario/bulk_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double SecondsOf(Duration d) { return std::chrono::duration<double>(d).count(); }

// ------------------------------------------------------------------------------ the equation ----

class Equation : public ::testing::TestWithParam<std::tuple<int, double>> {};

// Two thousand loss events, so that the mean is good to a few per cent. The loss event rate counts,
// which losses within one round trip make lower than the loss rate: up to 15 % above the equation
// at the configured loss is what an ideal TFRC does.
TEST_P(Equation, R5348_EQ_01_SCH_01_R4342_GEN_01_Bug_E1_TheRateIsThatOfTheEquation) {
  const auto [rtt_ms, loss] = GetParam();
  const double configured = TfrcThroughput(1400, milliseconds(rtt_ms), loss);
  const double events_per_second = loss * configured / 1400;
  const auto duration = seconds(static_cast<long>(std::min(600 / events_per_second, 1500.0)));
  double sent = 0;
  double by_events = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    BulkConfig config;
    config.one_way = milliseconds(rtt_ms) / 2;
    config.loss = loss;
    config.seed = seed;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    ASSERT_EQ(bulk.pair().client.info().tx_ccid, CcidId::k3);
    bulk.Run(duration / 10 + seconds(5));
    const std::uint64_t before = bulk.sent_bytes();
    by_events += bulk.RunAgainstEquation(duration);
    sent += static_cast<double>(bulk.sent_bytes() - before) / SecondsOf(duration);
  }
  const double to_configured = sent / 3 / configured;
  const double to_events = sent / by_events;
  RecordProperty("rate_to_equation", std::to_string(to_configured));
  EXPECT_GT(to_configured, 0.92);
  EXPECT_LT(to_configured, 1.18);
  EXPECT_GT(to_events, 0.93);
  EXPECT_LT(to_events, 1.03);
}

INSTANTIATE_TEST_SUITE_P(RttAndLoss, Equation,
                         ::testing::Combine(::testing::Values(10, 40, 150),
                                            ::testing::Values(0.001, 0.01, 0.05, 0.1)));

TEST(Ccid3, R4342_WC_05_R6323_OFF_01_TheRateIsRightWithoutTheSendersEstimate) {
  BulkConfig config;
  config.loss = 0.01;
  config.sender.send_rtt_estimate = config.receiver.send_rtt_estimate = false;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  EXPECT_EQ(*bulk.pair().client.endpoint().Feature(bulk.pair().client.conn,
                                                   FeatureNumber::kSendRttEstimate, true),
            0u);
  bulk.Run(seconds(20));
  const std::uint64_t before = bulk.sent_bytes();
  bulk.Run(seconds(300));
  const double rate = static_cast<double>(bulk.sent_bytes() - before) / 300;
  EXPECT_NEAR(rate / TfrcThroughput(1400, milliseconds(40), 0.01), 1.05, 0.15);
  EXPECT_NEAR(SecondsOf(bulk.pair().server.info().receiver.rtt), 0.04, 0.01);
}

TEST(Ccid3, R4342_FT_01_R6323_FT_01_TheFeaturesAreNegotiated) {
  BulkConfig config;
  config.sender.max_rate_bytes_per_second = 500'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(1));
  const auto feature = [&](SimPair::Side& side, FeatureNumber number, bool here) {
    return *side.endpoint().Feature(side.conn, number, here);
  };
  SimPair& pair = bulk.pair();
  EXPECT_EQ(feature(pair.client, FeatureNumber::kSendRttEstimate, true), 1u);
  EXPECT_EQ(feature(pair.server, FeatureNumber::kSendRttEstimate, false), 1u);
  EXPECT_EQ(feature(pair.server, FeatureNumber::kSendLossEventRate, true), 1u);
  EXPECT_EQ(feature(pair.client, FeatureNumber::kSendNdpCount, true), 1u);
  EXPECT_EQ(pair.server.info().receiver.rtt, milliseconds(40));
}

TEST(Ccid3, R6323_FT_01_APeerWithoutTheOptionIsNoHindrance) {
  for (bool sender_has_it : {false, true}) {
    BulkConfig config;
    config.sender.send_rtt_estimate = sender_has_it;
    config.receiver.send_rtt_estimate = !sender_has_it;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    bulk.Run(seconds(2));
    EXPECT_GT(bulk.received_bytes(), 1'000'000u);
  }
}

TEST(Ccid3, R4342_VER_01_BothEndsComputeTheSameLossEventRate) {
  BulkConfig config;
  config.loss = 0.02;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(30));
  double sender = 0;
  double receiver = 0;
  for (int i = 0; i < 200; ++i) {
    bulk.Run(milliseconds(200));
    sender += bulk.stats().loss_event_rate;
    receiver += bulk.pair().server.info().receiver.loss_event_rate;
  }
  EXPECT_NEAR(sender / receiver, 1, 0.01);
}

// ---------------------------------------------------------------------- slow start, fairness ----

TEST(Ccid3, R5348_FB_04_SlowStartFillsAPathSoon) {
  BulkConfig config;
  config.rate_bps = 10'000'000;
  config.queue_packets = 40;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  // The first fifth of a second in which nine tenths of the path are used.
  double best = 0;
  for (int i = 0; i < 7 && best < 0.9; ++i) {
    const std::uint64_t before = bulk.received_bytes();
    bulk.Run(milliseconds(200));
    const auto bits = static_cast<double>(bulk.received_bytes() - before) * 8;
    best = bits / (0.2 * 10e6 * 1400 / 1452);
  }
  EXPECT_GE(best, 0.9);
}

TEST(Ccid3, R5348_OSC_01_OneFlowKeepsABottleneckBusy) {
  for (std::uint64_t mbit : {1u, 10u, 100u}) {
    BulkConfig config;
    config.rate_bps = mbit * 1'000'000;
    config.queue_packets = std::max<std::uint64_t>(10, mbit * 1'000'000 / 8 * 40 / 1000 / 1450);
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    bulk.Run(seconds(20));
    const std::uint64_t before = bulk.received_bytes();
    bulk.Run(seconds(60));
    const double used = static_cast<double>(bulk.received_bytes() - before) * 8 / 60 /
                        (static_cast<double>(config.rate_bps) * 1400 / 1468);
    EXPECT_GT(used, 0.93) << mbit << " Mbit/s";
  }
}

// One flow of each kind through one queue.
TEST(Ccid3, SharesABottleneckWithCcid2WithinAFactorOfTwo) {
  AllCcids ccids;
  EndpointConfig endpoint;
  endpoint.registry = &ccids.registry;
  Network network(5, endpoint);
  DumbbellConfig config;
  config.access = {.delay = milliseconds(5)};
  config.bottleneck = {.delay = milliseconds(10), .rate_bps = 10'000'000, .queue_packets = 50};
  const Dumbbell dumbbell = network.AddDumbbell(config);
  std::array<std::byte, 1400> payload = {};
  std::array<ConnId, 2> conns;
  std::array<std::uint64_t, 2> received = {};
  for (std::size_t i = 0; i < 2; ++i) {
    SimNode& server = *dumbbell.right[i];
    SimNode& client = *dumbbell.left[i];
    ListenParams listen;
    listen.port = 5001;
    listen.service_codes = {ServiceCode(7)};
    ASSERT_TRUE(server.endpoint().Listen(listen).ok());
    server.SetEventHandler([&, i](const Event& event) {
      std::array<ReceivedDatagram, 64> out;
      while (const std::size_t n = server.endpoint().Read(event.conn, out)) {
        for (const ReceivedDatagram& datagram : std::span(out).first(n))
          received[i] += datagram.bytes.size();
      }
    });
    ConnectParams connect;
    connect.path = client.PathTo(server);
    connect.remote_port = 5001;
    connect.service_code = ServiceCode(7);
    connect.options.tx_ccids = {i == 0 ? CcidId::k2 : CcidId::k3};
    const auto conn = client.endpoint().Connect(connect, client.now());
    ASSERT_TRUE(conn.ok());
    conns[i] = *conn;
    client.Settle();
  }
  std::array<std::uint64_t, 2> before = {};
  for (int ms = 0; ms < 200'000; ms += 5) {
    if (ms == 20'000) before = received;
    for (std::size_t i = 0; i < 2; ++i) {
      while (dumbbell.left[i]->endpoint().Send(conns[i], payload).ok()) {
      }
      dumbbell.left[i]->Settle();
    }
    network.simulator().RunFor(milliseconds(5));
  }
  const auto ccid2 = static_cast<double>(received[0] - before[0]);
  const auto ccid3 = static_cast<double>(received[1] - before[1]);
  EXPECT_GT(ccid3 / ccid2, 0.5) << ccid2 << " " << ccid3;
  EXPECT_LT(ccid3 / ccid2, 2.0) << ccid2 << " " << ccid3;
  EXPECT_GT((ccid2 + ccid3) * 8 / 180, 9e6);
}

// -------------------------------------------------------------------------------- hard times ----

TEST(Ccid3, R5348_NF_02_Bug_E20_SilenceNeitherBlocksNorEarnsABurst) {
  BulkConfig config;
  config.rate_bps = 20'000'000;
  config.queue_packets = 100;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  for (Duration silence :
       {Duration(seconds(1)), Duration(seconds(70)), Duration(std::chrono::hours(3))}) {
    bulk.Run(seconds(5));
    bulk.Rest(silence);
    const std::uint64_t before = bulk.sent_bytes();
    bulk.Run(milliseconds(1));
    // Ten milliseconds' worth at the most, at no more than twice the path's rate.
    EXPECT_LE(bulk.sent_bytes() - before, 20'000'000u * 2 / 8 / 100);
    bulk.Run(seconds(2));
    EXPECT_GT(bulk.sent_bytes() - before, 500'000u) << SecondsOf(silence);
  }
}

TEST(Ccid3, R5348_NF_07_AnOutageOfAnyLengthEnds) {
  BulkConfig config;
  config.sender.max_rate_bytes_per_second = 500'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  for (Duration outage : {Duration(seconds(1)), Duration(seconds(100)), Duration(seconds(1000))}) {
    bulk.Run(seconds(5));
    PathConfig dead = {.delay = milliseconds(20), .loss = 1};
    bulk.pair().to_server().model().Reconfigure(dead);
    bulk.Run(outage);
    bulk.pair().to_server().model().Reconfigure({.delay = milliseconds(20)});
    const std::uint64_t before = bulk.received_bytes();
    // A packet leaves every 64 seconds at least, and two round trips later the rate rises.
    bulk.Run(seconds(140));
    EXPECT_GT(bulk.received_bytes() - before, 1'000'000u) << SecondsOf(outage);
  }
}

TEST(Ccid3, R5348_NF_03_WithoutAcknowledgementsTheRateFalls) {
  BulkConfig config;
  config.sender.max_rate_bytes_per_second = 500'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(5));
  bulk.pair().to_client().model().Reconfigure({.delay = milliseconds(20), .loss = 1});
  bulk.Run(seconds(30));
  const std::uint64_t before = bulk.sent_bytes();
  bulk.Run(seconds(10));
  EXPECT_LT(bulk.sent_bytes() - before, 30'000u);
  EXPECT_GT(bulk.stats().timeouts, 5u);
}

TEST(Ccid3, ThirtyPerCentLossBothWays) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    BulkConfig config;
    config.loss = config.reverse_loss = 0.3;
    config.seed = seed;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish()) << seed;
    bulk.Run(seconds(60));
    const std::uint64_t before = bulk.received_bytes();
    bulk.Run(seconds(300));
    const double rate = static_cast<double>(bulk.received_bytes() - before) / 300 / 0.7;
    const double equation = TfrcThroughput(1400, milliseconds(40), 0.3);
    EXPECT_GT(rate, 0.3 * equation) << seed;
    EXPECT_LT(rate, 2.5 * equation) << seed;
  }
}

TEST(Ccid3, Bug_E25_E27_E28_AMillionPacketsBothWaysWithoutARoundTrip) {
  BulkConfig config;
  config.one_way = Duration::zero();
  config.payload_bytes = 100;
  config.both_ways = true;
  config.sender.max_rate_bytes_per_second = config.receiver.max_rate_bytes_per_second = 10'000'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(20));
  EXPECT_GT(bulk.pair().server.received_datagrams, 500'000u);
  EXPECT_GT(bulk.pair().client.received_datagrams, 500'000u);
  EXPECT_FALSE(bulk.pair().client.closed());
  EXPECT_EQ(bulk.stats().loss_event_rate, 0);
}

TEST(Ccid3, R4342_LI_03_TwoWayTrafficIsJudgedEachWayByItsOwnLoss) {
  BulkConfig config;
  config.loss = 0.02;
  config.both_ways = true;
  config.receiver.max_rate_bytes_per_second = 500'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(60));
  EXPECT_GT(bulk.stats().loss_event_rate, 0.01);
  EXPECT_EQ(bulk.pair().server.info().sender.loss_event_rate, 0);
}

TEST(Ccid3, Bug_E9_PayloadsOfAByte) {
  BulkConfig config;
  config.payload_bytes = 1;
  config.loss = 0.01;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(20));
  const std::uint64_t before = bulk.sent_bytes();
  bulk.Run(seconds(200));
  const double rate = static_cast<double>(bulk.sent_bytes() - before) / 200;
  EXPECT_NEAR(rate / TfrcThroughput(1, milliseconds(40), 0.01), 1.05, 0.2);
}

TEST(Ccid3, R4342_AOA_01_AckVectorsStayShort) {
  BulkConfig config;
  config.loss = 0.01;
  config.sender.ack_vector = config.receiver.ack_vector = true;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(100));
  EXPECT_GT(bulk.pair().client.info().counters.data_packets_lost, 50u);
  EXPECT_NEAR(bulk.stats().loss_event_rate, 0.01, 0.006);
}

TEST(Ccid3, NoTimerAndNoWakeUpForEachPacket) {
  // A fast flow is sent in groups of a scheduling grain, so that an event is a packet's arrival or
  // the wake-up of a whole group.
  BulkConfig config;
  config.sender.max_rate_bytes_per_second = 70'000'000;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(10));
  Simulator& simulator = bulk.pair().simulator();
  const auto delivered = [&] {
    return bulk.pair().to_server().counters().delivered +
           bulk.pair().to_client().counters().delivered;
  };
  const std::uint64_t events = simulator.events_run();
  const std::uint64_t packets = delivered();
  bulk.Run(seconds(4));
  const std::uint64_t arrived = delivered() - packets;
  const std::uint64_t wake_ups = simulator.events_run() - events - arrived;
  ASSERT_GT(arrived, 100'000u);
  EXPECT_LT(wake_ups, arrived / 10);
}

}  // namespace
}  // namespace dccp
