// CCID 4 over a whole path: voice, the equation for small packets, the minimum interval.
// RFC 5622, RFC 4828

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stack/base/byte_order.h"
#include "stack/wire/packet_view.h"
#include "tests/scenario/bulk_pair.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The payload of a data packet on a link; empty for others.
std::span<const std::byte> PayloadOf(const SimPacket& packet) {
  PacketView view;
  if (PacketView::Parse(packet.bytes, &view) != ParseError::kNone) return {};
  const bool data = view.type() == PacketType::kData || view.type() == PacketType::kDataAck;
  return data ? view.payload() : std::span<const std::byte>();
}

SimPairConfig PairConfig(CcidId ccid, const CcidRegistry& registry, Duration one_way, double loss,
                         double reverse_loss, std::uint64_t seed) {
  SimPairConfig config;
  config.seed = seed;
  config.to_server = {.delay = one_way, .loss = loss};
  config.to_client = {.delay = one_way, .loss = reverse_loss};
  config.client.tx_ccids = {ccid};
  config.server.tx_ccids = {ccid, CcidId::k2};
  config.client.send_queue_datagrams = 4096;
  config.endpoint.registry = &registry;
  return config;
}

// ------------------------------------------------------------------------------------- voice ----

struct VoiceResult {
  Duration latest = Duration::zero();  // of the packets sent past the start
  std::uint64_t left = 0;              // packets that left
  double p = 0;
  Duration rtt;
};

// Twenty bytes each 20 ms, 5 % loss, 100 ms round trip.
VoiceResult Voice(CcidId ccid, double reverse_loss, std::uint64_t seed, std::uint32_t packets) {
  constexpr Duration kEvery = milliseconds(20);
  constexpr std::uint32_t kStart = 150;  // three seconds
  AllCcids ccids;
  SimPair pair(PairConfig(ccid, ccids.registry, milliseconds(50), 0.05, reverse_loss, seed));
  pair.server.keep_data = false;
  VoiceResult result;
  EXPECT_TRUE(pair.Establish());
  EXPECT_EQ(pair.client.info().tx_ccid, ccid);
  const TimePoint begin = pair.now();
  pair.to_server().SetHook([&](const SimPacket& packet, std::uint64_t) {
    const auto payload = PayloadOf(packet);
    if (payload.size() < 4) return LinkAction{};
    ++result.left;
    const std::uint32_t number = LoadBe32(payload.data());
    const Duration late = pair.now() - (begin + std::int64_t{number} * kEvery);
    if (number >= kStart) result.latest = std::max(result.latest, late);
    return LinkAction{};
  });
  for (std::uint32_t i = 0; i < packets; ++i) {
    EXPECT_TRUE(pair.client.SendNumbered(i, 20).ok());
    pair.client.node->Settle();
    pair.Run(begin + std::int64_t{i + 1} * kEvery - pair.now());
  }
  const SenderStats stats = pair.client.info().sender;
  result.p = stats.loss_event_rate;
  result.rtt = stats.srtt;
  return result;
}

TEST(Ccid4, R4828_EQ_01_HDR_01_R5622_HDR_01_VoiceIsNotStarved) {
  constexpr std::uint32_t kPackets = 6000;
  constexpr std::uint64_t kSeeds = 20;
  double p = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const VoiceResult voice = Voice(CcidId::k4, 0, seed, kPackets);
    EXPECT_LE(voice.latest, milliseconds(40)) << seed;
    EXPECT_GE(voice.left, kPackets - 2) << seed;
    p += voice.p / kSeeds;
  }
  // Plain TFRC would be allowed less than the thousand bytes a second.
  EXPECT_LT(TfrcThroughput(20, milliseconds(100), p), 900);
  const VoiceResult plain = Voice(CcidId::k3, 0, 1, kPackets);
  EXPECT_GT(plain.latest, milliseconds(400));
}

// A feedback that is lost leaves the rate of the last loss event in force for another round trip.
TEST(Ccid4, R4828_EQ_01_VoiceIsNotStarvedWhereFeedbackIsLostToo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const VoiceResult voice = Voice(CcidId::k4, 0.05, seed, 6000);
    EXPECT_LE(voice.latest, milliseconds(150)) << seed;
    EXPECT_GE(voice.left, 6000 - 4) << seed;
  }
}

// ------------------------------------------------------------------------------------ the rate ---

TEST(Ccid4, R4828_LI_01_R5622_GEN_01_LI_01_HeavyLossCountsByPackets) {
  // Some twenty packets a round trip, a tenth of which is lost: every loss interval is short.
  constexpr double kLoss = 0.1;
  constexpr double kPayload = 100;
  double to_equation = 0;
  double mean_p = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    BulkConfig config;
    config.ccid = CcidId::k4;
    config.one_way = milliseconds(150);
    config.loss = kLoss;
    config.payload_bytes = static_cast<std::size_t>(kPayload);
    config.seed = seed;
    BulkPair bulk(config);
    ASSERT_TRUE(bulk.Establish());
    bulk.Run(seconds(30));
    const std::uint64_t before = bulk.sent_bytes();
    double p = 0;
    double allowed = 0;
    constexpr int kSteps = 3000;
    for (int i = 0; i < kSteps; ++i) {
      bulk.Run(milliseconds(100));
      const SenderStats stats = bulk.stats();
      p += stats.loss_event_rate / kSteps;
      const double equation = TfrcThroughput(1460, stats.srtt, stats.loss_event_rate);
      // No more than a packet in 10 ms.
      allowed += std::min(equation * kPayload / (kPayload + 36), 100 * kPayload) / kSteps;
    }
    const double rate = static_cast<double>(bulk.sent_bytes() - before) / (kSteps * 0.1);
    to_equation += rate / allowed / 3;
    mean_p += p / 3;
  }
  RecordProperty("p", std::to_string(mean_p));
  RecordProperty("rate_to_equation", std::to_string(to_equation));
  // As loss events, two or three in each round trip being one, it would be 0.05.
  EXPECT_NEAR(mean_p, kLoss, 0.03);
  EXPECT_NEAR(to_equation, 0.98, 0.06);
}

TEST(Ccid4, R5622_MIN_01_R4828_MIN_01_NeverMoreThanAHundredPacketsASecond) {
  BulkConfig config;
  config.ccid = CcidId::k4;
  config.payload_bytes = 60;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  TimePoint last = TimePoint::min();
  Duration closest = seconds(1);
  std::uint64_t left = 0;
  bulk.pair().to_server().SetHook([&](const SimPacket& packet, std::uint64_t) {
    if (PayloadOf(packet).empty()) return LinkAction{};
    if (last != TimePoint::min()) closest = std::min<Duration>(closest, bulk.pair().now() - last);
    last = bulk.pair().now();
    ++left;
    return LinkAction{};
  });
  bulk.Run(seconds(60));
  EXPECT_EQ(closest, milliseconds(10));
  EXPECT_GT(left, 5900u);
  EXPECT_LE(left, 6001u);
  // Nor at once after silence.
  bulk.Rest(seconds(30));
  bulk.Run(seconds(5));
  EXPECT_EQ(closest, milliseconds(10));
}

TEST(Ccid4, R5622_LER_01_BothEndsComputeTheSameLossEventRate) {
  BulkConfig config;
  config.ccid = CcidId::k4;
  config.one_way = milliseconds(100);
  config.loss = 0.08;
  config.payload_bytes = 80;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(30));
  double sender = 0;
  double receiver = 0;
  for (int i = 0; i < 1000; ++i) {
    bulk.Run(milliseconds(200));
    sender += bulk.stats().loss_event_rate;
    receiver += bulk.pair().server.info().receiver.loss_event_rate;
  }
  EXPECT_NEAR(sender / receiver, 1, 0.03);
}

TEST(Ccid4, R5622_ALL_01_HardTimesEnd) {
  BulkConfig config;
  config.ccid = CcidId::k4;
  config.payload_bytes = 100;
  config.both_ways = true;
  BulkPair bulk(config);
  ASSERT_TRUE(bulk.Establish());
  bulk.Run(seconds(5));
  bulk.pair().to_server().model().Reconfigure({.delay = milliseconds(20), .loss = 1});
  bulk.Run(seconds(200));
  bulk.pair().to_server().model().Reconfigure({.delay = milliseconds(20)});
  bulk.Run(seconds(140));
  const std::uint64_t before = bulk.received_bytes();
  const std::uint64_t back = bulk.pair().client.received_bytes;
  bulk.Run(seconds(20));
  EXPECT_GT(bulk.received_bytes() - before, 100'000u);
  EXPECT_GT(bulk.pair().client.received_bytes - back, 100'000u);
}

}  // namespace
}  // namespace dccp
