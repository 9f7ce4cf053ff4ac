// A flood of Requests from forged addresses, while honest clients connect.

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <vector>

#include "dccp/openssl_cookie_sealer.h"
#include "stack/sim/sim_pair.h"
#include "stack/wire/checksum.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/packet_writer.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Flood {
  std::uint32_t per_millisecond;
  milliseconds lasts;
  bool cookies;
  Encapsulation encapsulation = Encapsulation::kUdp;
  IpFamily family = IpFamily::kV4;
};

struct Outcome {
  std::uint32_t honest = 0;
  std::uint32_t connected = 0;
  std::uint32_t most_connections = 0;  // at the server
  std::int64_t heap_growth_bytes = 0;  // during the second half
  EndpointCounters server;
  ConnectionInfo last;
};

// Honest clients come every 25 ms and have 20 ms of round trip; the attacker's Requests come from a
// new address each, from which nothing is ever heard again.
class RequestFlood : public ::testing::Test {
 protected:
  static constexpr milliseconds kEvery = milliseconds(25);

  static SimPairConfig Config(const Flood& flood, CookieSealer* sealer) {
    SimPairConfig config;
    config.encapsulation = flood.encapsulation;
    config.family = flood.family;
    config.server_endpoint = EndpointConfig();
    if (flood.cookies) config.server_endpoint->cookie_sealer = sealer;
    config.server.sequence_window = 300;
    config.client.sequence_window = 200;
    return config;
  }

  Outcome Run(const Flood& flood) {
    const auto sealer = MakeOpenSslCookieSealer();
    SimPair pair(Config(flood, sealer.get()));
    // What goes to a forged address is lost.
    const IpAddress honest = pair.client.node->address();
    pair.to_client().SetHook([honest](const SimPacket& packet, std::uint64_t) {
      const bool forged = packet.path.remote != honest;
      return LinkAction{forged ? LinkAction::Kind::kDrop : LinkAction::Kind::kPass, {}};
    });
    EXPECT_TRUE(pair.Listen().ok());
    Outcome outcome;
    std::int64_t heap = 0;
    for (milliseconds t = milliseconds(0); t < flood.lasts; t += milliseconds(1)) {
      for (std::uint32_t i = 0; i < flood.per_millisecond; ++i) Attack(pair, flood);
      // Once the backlog is full.
      if (t % kEvery == milliseconds(0) && t >= flood.lasts / 3) {
        EXPECT_TRUE(pair.Connect().ok());
        ++outcome.honest;
      }
      if (t == flood.lasts / 2) heap = HeapBytes();
      pair.Run(milliseconds(1));
      outcome.most_connections =
          std::max(outcome.most_connections, pair.server.endpoint().ActiveConnections());
    }
    outcome.heap_growth_bytes = HeapBytes() - heap;
    pair.Run(seconds(2));
    for (const Event& event : pair.client.events) {
      if ((event.bits & kEventConnected) == 0) continue;
      const Result<ConnectionInfo> info = pair.client.endpoint().Info(event.conn);
      if (info.ok() && info->state == State::kOpen) ++outcome.connected;
    }
    outcome.server = pair.server.endpoint().counters();
    outcome.last = pair.server.info();
    return outcome;
  }

 private:
  static std::int64_t HeapBytes() { return static_cast<std::int64_t>(mallinfo2().uordblks); }

  void Attack(SimPair& pair, const Flood& flood) {
    Path path = pair.client.node->PathTo(*pair.server.node);
    const std::uint64_t n = ++forged_;
    auto& address = path.local.bytes;
    address[path.local.size() - 3] = static_cast<std::uint8_t>(0x80 | (n >> 16));
    address[path.local.size() - 2] = static_cast<std::uint8_t>(n >> 8);
    address[path.local.size() - 1] = static_cast<std::uint8_t>(n);
    std::array<std::byte, 64> area;
    OptionWriter options(area);
    const std::array<std::byte, 1> one = {std::byte{1}};
    options.AddFeature(OptionType::kChangeR, FeatureNumber::kSendAckVector, one, true);
    options.AddFeature(OptionType::kChangeL, FeatureNumber::kSendAckVector, one, true);
    AddTimestamp(options, TenMicros(77));
    options.Pad();
    HeaderFields fields;
    fields.source_port = static_cast<std::uint16_t>(1024 + n % 60'000);
    fields.destination_port = 5001;
    fields.type = PacketType::kRequest;
    fields.seq = SeqNo(n * 0x9E3779B97F4A7C15u);
    fields.service_code = SimPairConfig().service_code;
    std::vector<std::byte> packet(FixedHeaderBytes(PacketType::kRequest, true) + options.size());
    WriteHeader(fields, options.bytes(), packet);
    if (flood.encapsulation == Encapsulation::kNative)
      StoreChecksum(packet, ComputeChecksum(path.local, path.remote, packet, packet.size()));
    pair.client.node->Inject(packet, path);
  }

  std::uint64_t forged_ = 0;
};

TEST_F(RequestFlood, R4340_COOK_04_WithCookiesEveryHonestClientGetsThrough) {
  const Outcome o = Run({.per_millisecond = 100, .lasts = seconds(2), .cookies = true});
  EXPECT_GT(o.honest, 50u);
  EXPECT_EQ(o.connected, o.honest);
  EXPECT_EQ(o.server.connections_accepted, o.honest);
  EXPECT_GT(o.server.cookies_sent, 190'000u);
  EXPECT_EQ(o.server.half_open_evicted, 0u);
  EXPECT_EQ(o.server.connections_refused, 0u);
  // Half the backlog, and those that are open.
  EXPECT_LE(o.most_connections, 2048u + o.honest);
  // Both ends of thirty more connections, each with its buffers.
  EXPECT_LT(o.heap_growth_bytes, 4 << 20);
}

TEST_F(RequestFlood, R4340_COOK_04_OverIPv6AndNativeToo) {
  for (const auto& [encapsulation, family] : {std::pair(Encapsulation::kUdp, IpFamily::kV6),
                                              std::pair(Encapsulation::kNative, IpFamily::kV4),
                                              std::pair(Encapsulation::kNative, IpFamily::kV6)}) {
    const Outcome o = Run({.per_millisecond = 20,
                           .lasts = milliseconds(500),
                           .cookies = true,
                           .encapsulation = encapsulation,
                           .family = family});
    EXPECT_GT(o.honest, 10u);
    EXPECT_EQ(o.connected, o.honest);
    EXPECT_GT(o.server.cookies_accepted, 10u);
    EXPECT_EQ(o.last.state, State::kOpen);
  }
}

// The oldest of 4096 has had four seconds to answer: only the attacker's are ever given up.
TEST_F(RequestFlood, ASlowFloodKeepsNobodyOutWithoutCookies) {
  const Outcome o = Run({.per_millisecond = 1, .lasts = seconds(15), .cookies = false});
  EXPECT_GT(o.honest, 300u);
  EXPECT_EQ(o.connected, o.honest);
  EXPECT_GT(o.server.half_open_evicted, 5'000u);
  EXPECT_EQ(o.server.connections_refused, 0u);
}

// exp(-t r / N) with a round trip t of 20 ms, r = 100,000 Requests a second and N = 4096 is 61 %.
TEST_F(RequestFlood, AFastFloodLeavesHonestClientsTheirChanceWithoutCookies) {
  const Outcome o = Run({.per_millisecond = 100, .lasts = seconds(3), .cookies = false});
  EXPECT_GT(o.honest, 70u);
  EXPECT_GE(o.connected, o.honest * 45 / 100);
  EXPECT_LE(o.connected, o.honest * 80 / 100);
  EXPECT_LE(o.most_connections, 4096u + o.honest);
}

}  // namespace
}  // namespace dccp
