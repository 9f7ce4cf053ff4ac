#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "apps/dccp-netem/delay_histogram.h"
#include "apps/dccp-netem/direction.h"
#include "apps/dccp-netem/path_options.h"
#include "stack/io/monotonic_clock.h"

namespace dccp::apps::netem {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(NetemPath, TakesDelayAndJitter) {
  PathConfig path;
  EXPECT_TRUE(ParseDelay("20ms", &path));
  EXPECT_EQ(path.delay, milliseconds(20));
  EXPECT_EQ(path.jitter, Duration::zero());
  EXPECT_TRUE(ParseDelay("150ms,500us", &path));
  EXPECT_EQ(path.jitter, microseconds(500));
  for (const char* text : {"", "x", "20ms,", "20ms,1ms,1ms", "-1ms", "11m", "601s"})
    EXPECT_FALSE(ParseDelay(text, &path)) << text;
}

TEST(NetemPath, TakesLossInBursts) {
  PathConfig path;
  EXPECT_TRUE(ParseLossModel("1%", &path));
  EXPECT_DOUBLE_EQ(path.loss, 0.01);
  EXPECT_FALSE(path.burst_loss);
  path = {};
  EXPECT_TRUE(ParseLossModel("2%,burst 4", &path));
  ASSERT_TRUE(path.burst_loss);
  // In the long run the share of bad packets is the loss, and a burst lasts 4.
  const GilbertElliottConfig chain = *path.burst_loss;
  EXPECT_DOUBLE_EQ(chain.good_to_bad / (chain.good_to_bad + chain.bad_to_good), 0.02);
  EXPECT_DOUBLE_EQ(1 / chain.bad_to_good, 4);
  EXPECT_EQ(path.loss, 0);
  path = {};
  EXPECT_TRUE(ParseLossModel("0.5%,burst=0.01/0.25/0.9/0.001", &path));
  EXPECT_DOUBLE_EQ(path.loss, 0.005);
  EXPECT_DOUBLE_EQ(path.burst_loss->loss_bad, 0.9);
  EXPECT_DOUBLE_EQ(path.burst_loss->loss_good, 0.001);
  for (const char* text : {"", "101%", "1%,", "1%,burst", "1%,burst 0.5", "1%,bursts 4",
                           "1%,burst 1/2/3", "1%,burst 0.1/0.1/0.1/0.1/0.1", "99%,burst 1"})
    EXPECT_FALSE(ParseLossModel(text, &path)) << text;
}

TEST(NetemPath, TellsPacketsFromBytes) {
  PathConfig path;
  EXPECT_TRUE(ParseQueue("50", &path));
  EXPECT_EQ(path.queue_packets, 50u);
  EXPECT_TRUE(ParseQueue("64K", &path));
  EXPECT_EQ(path.queue_packets, 0u);
  EXPECT_EQ(path.queue_bytes, 65536u);
  EXPECT_TRUE(ParseQueue("1500B", &path));
  EXPECT_EQ(path.queue_bytes, 1500u);
  for (const char* text : {"", "0", "0K", "x", "-5", "10ms"})
    EXPECT_FALSE(ParseQueue(text, &path)) << text;
}

TEST(NetemPath, OneDirectionOverridesBoth) {
  PathTexts both;
  both.delay = "20ms";
  both.loss = "1%";
  both.rate = "10Mbit";
  PathTexts forward;
  forward.loss = "0";
  std::string error;
  const auto path = UnderstandPath(both, forward, "fwd-", &error);
  ASSERT_TRUE(path) << error;
  EXPECT_EQ(path->delay, milliseconds(20));
  EXPECT_EQ(path->loss, 0);
  EXPECT_EQ(path->rate_bps, 10'000'000u);
  EXPECT_EQ(path->queue_packets, 100u);
}

TEST(NetemPath, SaysWhichOptionIsWrong) {
  const auto fault = [](auto&& fill) {
    PathTexts both;
    PathTexts own;
    fill(both, own);
    std::string error;
    EXPECT_FALSE(UnderstandPath(both, own, "rev-", &error));
    return error;
  };
  EXPECT_NE(fault([](auto& b, auto&) { b.loss = "2"; }).find("--loss: '2'"), std::string::npos);
  EXPECT_NE(fault([](auto&, auto& o) { o.delay = "x"; }).find("--rev-delay: 'x'"),
            std::string::npos);
  EXPECT_NE(fault([](auto& b, auto&) { b.queue = "10"; }).find("--rate"), std::string::npos);
  EXPECT_NE(fault([](auto& b, auto&) { b.red = "5,15,0.1"; }).find("--rate"), std::string::npos);
  EXPECT_NE(fault([](auto& b, auto&) { b.rate = "10"; }).find("--rate: '10'"), std::string::npos);
  EXPECT_NE(fault([](auto& b, auto&) { b.red_ecn = true; }).find("--red"), std::string::npos);
  EXPECT_NE(fault([](auto& b, auto&) { b.mtu = "67"; }).find("--mtu: '67'"), std::string::npos);
}

TEST(PacketStore, UsesCellsAgainAndKeepsItsLimit) {
  PacketStore store(16 * 2048);
  std::vector<Packet*> packets;
  while (Packet* const packet = store.New(1500)) packets.push_back(packet);
  EXPECT_EQ(packets.size(), 16u);
  EXPECT_EQ(store.bytes_in_use(), 16u * 2048);
  store.Free(packets.back());
  EXPECT_EQ(store.New(1400), packets.back());
  EXPECT_EQ(store.New(100), nullptr);
  for (Packet* packet : packets) store.Free(packet);
  EXPECT_EQ(store.in_use(), 0u);
  Packet* const small = store.New(100);
  ASSERT_NE(small, nullptr);
  EXPECT_GE(small->capacity, 100u);
  EXPECT_EQ(store.New(PacketStore::kMaxBytes + 1000), nullptr);
}

TEST(DelayHistogram, GivesQuantilesToThreePercent) {
  DelayHistogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), Duration::zero());
  for (int i = 1; i <= 10'000; ++i) histogram.Add(microseconds(i));
  const auto near = [](Duration got, Duration want) {
    EXPECT_NEAR(static_cast<double>(got.count()), static_cast<double>(want.count()),
                0.035 * static_cast<double>(want.count()));
  };
  near(histogram.Quantile(0.5), microseconds(5000));
  near(histogram.Quantile(0.99), microseconds(9900));
  EXPECT_EQ(histogram.Quantile(1), microseconds(10'000));
  EXPECT_EQ(histogram.max(), microseconds(10'000));
  DelayHistogram other;
  for (int i = 0; i < 30'000; ++i) other.Add(Duration(7));
  other += histogram;
  EXPECT_EQ(other.Quantile(0.5), Duration(7));
  EXPECT_EQ(other.total(), 40'000u);
}

// Keeps what is sent, and does with it what the test says.
class Collector final : public PacketOutput {
 public:
  void Send(std::span<Packet* const> packets) override {
    for (Packet* packet : packets) {
      packet->outcome = outcome;
      if (outcome == Outcome::kSent) first_bytes.push_back(packet->bytes()[0]);
      ecn.push_back(packet->ecn);
      calls++;
    }
  }
  void OnTooBig(const Packet&, std::uint32_t mtu_bytes) override { too_big_mtu = mtu_bytes; }

  Outcome outcome = Outcome::kSent;
  std::vector<std::byte> first_bytes;
  std::vector<Ecn> ecn;
  int calls = 0;
  std::uint32_t too_big_mtu = 0;
};

class DirectionTest : public testing::Test {
 protected:
  void Make(const PathConfig& config) {
    direction_ = std::make_unique<Direction>(config, 1, store_, pending_.queue(), output_);
  }
  void Arrive(int first_byte, TimePoint at, std::size_t bytes = 1000, Ecn ecn = Ecn::kNotEct) {
    Packet* const packet = direction_->NewPacket(bytes, bytes + 28);
    if (packet == nullptr) return;
    std::memset(packet->data(), first_byte, bytes);
    packet->ecn = ecn;
    direction_->Arrive(packet, at);
  }
  void Run(TimePoint now) {
    direction_->OfferArrived();
    pending_.Release(now);
    direction_->Flush();
  }
  // Every packet is somewhere.
  void ExpectBalance() {
    const DirectionCounters& c = direction_->counters();
    EXPECT_EQ(c.offered + c.duplicated, c.delivered + c.lost + c.queue_full + c.red_dropped +
                                            c.too_big + c.no_memory + c.refused + c.unresolved +
                                            store_.in_use());
  }

  PacketStore store_{1 << 20};
  Pending pending_;
  Collector output_;
  std::unique_ptr<Direction> direction_;
  // The lateness of packets is measured by the real clock.
  const TimePoint start_ = MonotonicClock::Now() - std::chrono::seconds(10);
};

TEST_F(DirectionTest, SendsWhenDueAndInOrder) {
  Make({.delay = milliseconds(20)});
  // Two sources, read one after the other: the model sees them by their time of arrival.
  Arrive(3, start_ + microseconds(300));
  Arrive(1, start_ + microseconds(100));
  Arrive(2, start_ + microseconds(200));
  Run(start_ + milliseconds(20));
  EXPECT_TRUE(output_.first_bytes.empty());
  EXPECT_EQ(pending_.next(), start_ + microseconds(20'100));
  Run(start_ + microseconds(20'200));
  Run(start_ + milliseconds(21));
  EXPECT_EQ(output_.first_bytes, (std::vector{std::byte{1}, std::byte{2}, std::byte{3}}));
  EXPECT_EQ(pending_.next(), kNever);
  EXPECT_EQ(direction_->counters().delivered, 3u);
  EXPECT_EQ(direction_->counters().delivered_bytes, 3u * 1028);
  EXPECT_EQ(direction_->lateness().total(), 3u);
  ExpectBalance();
}

TEST_F(DirectionTest, CountsEveryFate) {
  PathConfig config = {.delay = milliseconds(1)};
  config.jitter = milliseconds(1);
  config.rate_bps = 50'000'000;
  config.queue_packets = 20;
  config.loss = 0.1;
  config.reorder = 0.1;
  config.reorder_delay = milliseconds(3);
  config.duplicate = 0.1;
  config.corrupt = 0.1;
  config.ecn_mark = 0.1;
  config.mtu_bytes = 1200;
  Make(config);
  for (int i = 0; i < 2000; ++i) {
    const TimePoint at = start_ + microseconds(100 * i);
    Arrive(i & 0x7F, at, i % 50 == 0 ? 1400 : 1000, Ecn::kEct0);
    Run(at);
    ExpectBalance();
  }
  Run(start_ + std::chrono::seconds(1));
  const DirectionCounters& c = direction_->counters();
  for (const std::uint64_t count : {c.lost, c.queue_full, c.too_big, c.duplicated, c.marked,
                                    c.corrupted, c.reordered, c.delivered})
    EXPECT_GT(count, 20u);
  EXPECT_EQ(output_.too_big_mtu, 1200u);
  EXPECT_EQ(store_.in_use(), 0u);
  ExpectBalance();
  // Of a duplicated packet both copies carry the mark.
  const auto marked = std::count(output_.ecn.begin(), output_.ecn.end(), Ecn::kCe);
  EXPECT_GE(static_cast<std::uint64_t>(marked), c.marked);
}

TEST_F(DirectionTest, CountsWhatHasNoRoom) {
  Make({.delay = milliseconds(100)});
  for (int i = 0; i < 1000; ++i) Arrive(1, start_);
  Run(start_);
  EXPECT_EQ(direction_->counters().offered, 1000u);
  EXPECT_GT(direction_->counters().no_memory, 400u);
  ExpectBalance();
}

TEST_F(DirectionTest, WaitsForANextHopButNotForEver) {
  Make({});
  output_.outcome = Outcome::kTryAgain;
  Arrive(1, start_);
  Run(MonotonicClock::Now());
  EXPECT_EQ(store_.in_use(), 1u);
  output_.outcome = Outcome::kSent;
  Run(MonotonicClock::Now() + milliseconds(10));
  EXPECT_EQ(direction_->counters().delivered, 1u);
  EXPECT_EQ(direction_->lateness().total(), 0u);
  output_.outcome = Outcome::kTryAgain;
  Arrive(1, start_);
  for (int i = 0; i < 2000; ++i) Run(MonotonicClock::Now() + milliseconds(10));
  EXPECT_EQ(direction_->counters().unresolved, 1u);
  EXPECT_EQ(store_.in_use(), 0u);
  ExpectBalance();
}

TEST_F(DirectionTest, FlipsBitsOfTheBodyOnly) {
  Make({.corrupt = 1});
  for (int i = 0; i < 200; ++i) {
    Packet* const packet = direction_->NewPacket(20, 48);
    std::memset(packet->data(), 0, 20);
    packet->body_offset = 16;
    direction_->Arrive(packet, start_);
  }
  Run(start_);
  EXPECT_EQ(direction_->counters().corrupted, 200u);
  EXPECT_EQ(std::count(output_.first_bytes.begin(), output_.first_bytes.end(), std::byte{0}), 200);
}

}  // namespace
}  // namespace dccp::apps::netem
