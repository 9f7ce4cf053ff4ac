#include "stack/sim/network.h"

#include <gtest/gtest.h>

#include <vector>

#include "dccp/ccid2.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kPort = 5001;

// Listens on `to`, connects `from` to it and keeps the client's send queue filled.
class Bulk {
 public:
  Bulk(SimNode& from, SimNode& to) : from_(from), to_(to) {
    ListenParams listen;
    listen.port = kPort;
    EXPECT_TRUE(to.endpoint().Listen(listen).ok());
    ConnectParams params;
    params.path = from.PathTo(to);
    params.remote_port = kPort;
    conn_ = *from.endpoint().Connect(params, from.now());
    from.SetEventHandler([this](const Event&) { Fill(); });
    to.SetEventHandler([this](const Event& event) { Drain(event.conn); });
  }
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  void Fill() {
    const std::vector<std::byte> data(1000);
    while (from_.endpoint().Send(conn_, data).ok()) {
    }
  }
  void Drain(ConnId conn) {
    std::array<ReceivedDatagram, 16> batch;
    while (const std::size_t n = to_.endpoint().Read(conn, batch))
      for (std::size_t i = 0; i < n; ++i) received_bytes_ += batch[i].bytes.size();
  }

  SimNode& from_;
  SimNode& to_;
  ConnId conn_;
  std::uint64_t received_bytes_ = 0;
};

class NetworkTest : public ::testing::Test {
 protected:
  NetworkTest() {
    EXPECT_TRUE(registry_.Add(ccid2_));
    defaults_.registry = &registry_;
  }
  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  EndpointConfig defaults_;
};

TEST_F(NetworkTest, DumbbellSharesItsBottleneck) {
  Network network(1, defaults_);
  DumbbellConfig config;
  config.hosts_per_side = 3;
  config.access = {.delay = milliseconds(1), .rate_bps = 100'000'000};
  config.bottleneck = {.delay = milliseconds(10), .rate_bps = 8'000'000, .queue_packets = 40};
  const Dumbbell dumbbell = network.AddDumbbell(config);
  std::vector<std::unique_ptr<Bulk>> flows;
  for (std::size_t i = 0; i < 3; ++i)
    flows.push_back(std::make_unique<Bulk>(*dumbbell.left[i], *dumbbell.right[i]));
  network.simulator().RunFor(seconds(30));
  std::uint64_t total = 0;
  for (const auto& flow : flows) {
    EXPECT_GT(flow->received_bytes(), 1'000'000u) << network.log().Text();
    total += flow->received_bytes();
  }
  // 30 MB less headers and the start; never more than the link can carry.
  EXPECT_GT(total, 24'000'000u);
  EXPECT_LT(total, 30'000'000u);
  EXPECT_GT(dumbbell.bottleneck.forward->counters().queue_drops, 0u);
}

TEST_F(NetworkTest, AddressesAreDistinctInBothFamilies) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    Network network(1, defaults_, family);
    SimNode& a = network.AddNode("a");
    SimNode& b = network.AddNode("b");
    EXPECT_NE(a.address(), b.address());
    EXPECT_EQ(a.address().family, family);
    EXPECT_EQ(a.PathTo(b).remote, b.address());
    EXPECT_EQ(a.PathTo(b).remote_udp_port, kDefaultUdpPort);
  }
}

TEST_F(NetworkTest, UdpChecksumStopsCorruptedPackets) {
  Network network(1, defaults_);
  SimNode& a = network.AddNode("a");
  SimNode& b = network.AddNode("b");
  network.Join(a, b, {.corrupt = 1}, {});
  ConnectParams params;
  params.path = a.PathTo(b);
  params.remote_port = kPort;
  ASSERT_TRUE(a.endpoint().Connect(params, a.now()).ok());
  network.simulator().RunFor(milliseconds(500));
  EXPECT_EQ(b.udp_checksum_drops(), 1u);
  EXPECT_EQ(b.endpoint().counters().packets_received, 0u);
}

TEST_F(NetworkTest, DccpChecksumStopsCorruptedPacketsInNativeMode) {
  defaults_.encapsulation = Encapsulation::kNative;
  Network network(1, defaults_);
  SimNode& a = network.AddNode("a");
  SimNode& b = network.AddNode("b");
  network.Join(a, b, {.corrupt = 1}, {});
  ConnectParams params;
  params.path = a.PathTo(b);
  params.remote_port = kPort;
  ASSERT_TRUE(a.endpoint().Connect(params, a.now()).ok());
  network.simulator().RunFor(seconds(100));
  EXPECT_GT(b.endpoint().counters().packets_received, 3u);
  EXPECT_EQ(b.packets_sent(), 0u) << network.log().Text();
}

TEST_F(NetworkTest, AHostWithoutPowerIsSilent) {
  Network network(1, defaults_);
  SimNode& a = network.AddNode("a");
  SimNode& b = network.AddNode("b");
  network.Join(a, b, {}, {});
  b.SetPower(false);
  ConnectParams params;
  params.path = a.PathTo(b);
  params.remote_port = kPort;
  ASSERT_TRUE(a.endpoint().Connect(params, a.now()).ok());
  network.simulator().RunFor(seconds(2));
  EXPECT_EQ(b.endpoint().counters().packets_received, 0u);
  b.SetPower(true);
  network.simulator().RunFor(seconds(30));
  EXPECT_GT(b.endpoint().counters().packets_received, 0u);
}

}  // namespace
}  // namespace dccp
