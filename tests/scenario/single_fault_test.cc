// A connection survives any single packet being lost, duplicated or delayed: every packet of a
// whole exchange in turn, in both directions. The list of packets is generated from an undisturbed
// run, so it grows with the protocol.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stack/sim/sim_pair.h"
#include "tests/support/test_sealer.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kDatagrams = 5;

struct Exchange {
  std::string name;
  bool server_closes;
  bool server_timewait;
  Encapsulation encapsulation;
  IpFamily family;
  bool cookies = false;  // the server keeps no state before it is open
};

struct Fault {
  bool to_server;
  std::uint64_t index;
  LinkAction action;
};

struct Outcome {
  bool established = false;
  bool closed = false;
  bool clean = false;
  std::uint64_t to_server_packets = 0;
  std::uint64_t to_client_packets = 0;
  std::uint64_t server_got = 0;
  std::uint64_t client_got = 0;
  std::uint64_t cookies = 0;
  std::string log;
};

std::string Describe(const Fault& fault) {
  static const char* const kNames[] = {"pass", "drop", "duplicate", "delay", "corrupt", "mark"};
  return std::string(fault.to_server ? "to server" : "to client") + " packet " +
         std::to_string(fault.index) + " " + kNames[static_cast<int>(fault.action.kind)] + " " +
         std::to_string(fault.action.delay / milliseconds(1)) + " ms";
}

// Connects, sends five datagrams each way, closes; with one fault or none.
Outcome RunExchange(const Exchange& exchange, const Fault* fault) {
  SimPairConfig config;
  config.encapsulation = exchange.encapsulation;
  config.family = exchange.family;
  config.server.server_timewait = exchange.server_timewait;
  config.client.user_timeout = config.server.user_timeout = seconds(60);
  TestSealer sealer;
  if (exchange.cookies) {
    config.server_endpoint = EndpointConfig();
    config.server_endpoint->cookie_sealer = &sealer;
    config.cookies_above = 0;
  }
  SimPair pair(config);
  if (fault != nullptr) {
    Link& link = fault->to_server ? pair.to_server() : pair.to_client();
    link.SetHook([fault](const SimPacket&, std::uint64_t index) {
      return index == fault->index ? fault->action : LinkAction{};
    });
  }
  Outcome outcome;
  EXPECT_TRUE(pair.Listen().ok());
  EXPECT_TRUE(pair.Connect().ok());
  outcome.established = pair.RunUntil(
      [&] { return pair.client.connected() && pair.server.connected(); }, seconds(20));
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    EXPECT_TRUE(pair.client.SendNumbered(i, 100).ok());
    EXPECT_TRUE(pair.server.SendNumbered(i, 100).ok());
    pair.Run(milliseconds(30));
  }
  pair.Run(seconds(3));
  EXPECT_TRUE((exchange.server_closes ? pair.server : pair.client).Close().ok());
  outcome.closed = pair.RunUntilClosed(seconds(60));
  outcome.clean = pair.client.info().close.clean && pair.server.info().close.clean;
  outcome.to_server_packets = pair.to_server().counters().offered;
  outcome.to_client_packets = pair.to_client().counters().offered;
  outcome.server_got = pair.server.received_datagrams;
  outcome.client_got = pair.client.received_datagrams;
  outcome.cookies = pair.server.endpoint().counters().cookies_accepted;
  outcome.log = pair.Log();
  return outcome;
}

class SingleFault : public ::testing::TestWithParam<Exchange> {};

TEST_P(SingleFault, R4340_CON_12_CLS_03_COOK_05_EveryPacketLostDuplicatedOrDelayedInTurn) {
  const Exchange& exchange = GetParam();
  const Outcome plain = RunExchange(exchange, nullptr);
  ASSERT_TRUE(plain.established && plain.closed && plain.clean) << plain.log;
  ASSERT_EQ(plain.server_got, kDatagrams);
  ASSERT_EQ(plain.client_got, kDatagrams);
  ASSERT_GE(plain.to_server_packets, 2u + kDatagrams);
  ASSERT_EQ(plain.cookies, exchange.cookies ? 1u : 0u);

  std::vector<LinkAction> actions = {{LinkAction::Kind::kDrop, {}}};
  for (milliseconds delay : {milliseconds(0), milliseconds(35), milliseconds(900)})
    actions.push_back({LinkAction::Kind::kDuplicate, delay});
  for (milliseconds delay : {milliseconds(5), milliseconds(35), milliseconds(150),
                             milliseconds(1500), milliseconds(5000)})
    actions.push_back({LinkAction::Kind::kDelay, delay});

  int cases = 0;
  for (const bool to_server : {true, false}) {
    const std::uint64_t packets = to_server ? plain.to_server_packets : plain.to_client_packets;
    for (std::uint64_t index = 0; index < packets; ++index) {
      for (const LinkAction& action : actions) {
        const Fault fault{to_server, index, action};
        SCOPED_TRACE(Describe(fault));
        const Outcome o = RunExchange(exchange, &fault);
        ++cases;
        ASSERT_TRUE(o.established) << o.log;
        ASSERT_TRUE(o.closed) << o.log;
        EXPECT_TRUE(o.clean) << o.log;
        // Every datagram arrives once, but for the one that the fault took or delayed too long.
        ASSERT_LE(o.server_got, kDatagrams) << o.log;
        ASSERT_LE(o.client_got, kDatagrams) << o.log;
        const std::uint64_t missing = 2 * kDatagrams - o.server_got - o.client_got;
        ASSERT_LE(missing, action.kind == LinkAction::Kind::kDuplicate ? 0u : 1u) << o.log;
      }
    }
  }
  RecordProperty("cases", cases);
}

INSTANTIATE_TEST_SUITE_P(
    Exchanges, SingleFault,
    ::testing::Values(
        Exchange{"ClientCloses", false, false, Encapsulation::kUdp, IpFamily::kV4},
        Exchange{"ServerCloses", true, false, Encapsulation::kUdp, IpFamily::kV6},
        Exchange{"ServerHoldsTimeWait", true, true, Encapsulation::kNative, IpFamily::kV4},
        Exchange{"ClientClosesNative6", false, false, Encapsulation::kNative, IpFamily::kV6},
        Exchange{"Cookies", false, false, Encapsulation::kUdp, IpFamily::kV4, true},
        Exchange{"Cookies6", true, false, Encapsulation::kUdp, IpFamily::kV6, true},
        Exchange{"CookiesNative", true, true, Encapsulation::kNative, IpFamily::kV4, true},
        Exchange{"CookiesNative6", false, false, Encapsulation::kNative, IpFamily::kV6, true}),
    [](const auto& exchange) { return exchange.param.name; });

}  // namespace
}  // namespace dccp
