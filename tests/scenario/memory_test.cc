// What shows only after many packets or many connections: leaks, queues that throttle, clocks that
// do not move.

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"
#include "tests/scenario/counting_new.h"
#include "tests/scenario/test_effort.h"

namespace dccp {
namespace {

using std::chrono::seconds;

constexpr std::uint16_t kPort = 5001;

// Two endpoints without any network between them: what one sends the other has at the same instant.
class NoDistance {
 public:
  NoDistance() : random_a_(1), random_b_(2) {
    registry_.Add(ccid2_);
    EndpointConfig config;
    config.registry = &registry_;
    config.random = &random_a_;
    a_ = std::move(*Endpoint::Create(config));
    config.random = &random_b_;
    b_ = std::move(*Endpoint::Create(config));
    path_.local.bytes = {127, 0, 0, 1};
    path_.remote.bytes = {127, 0, 0, 2};
    path_.local_udp_port = path_.remote_udp_port = kDefaultUdpPort;
  }

  Endpoint& a() { return *a_; }
  Endpoint& b() { return *b_; }
  TimePoint now() const { return now_; }
  ConnId server() const { return server_; }
  const Path& path() const { return path_; }

  ConnId Connect() {
    ConnectParams connect;
    connect.path = path_;
    connect.remote_port = kPort;
    const ConnId conn = a_->Connect(connect, now_).value();
    Settle();
    return conn;
  }

  // Both ways until nothing more is to be sent at this instant.
  void Settle() {
    for (bool again = true; again;) {
      again = Move(*a_, *b_);
      again = Move(*b_, *a_) || again;
      while (a_->PollEvent()) {
      }
      while (const auto event = b_->PollEvent()) {
        if ((event->bits & kEventAccepted) != 0) server_ = event->conn;
      }
    }
  }

  void Advance(Duration d) {
    now_ += d;
    a_->HandleTimeout(now_);
    b_->HandleTimeout(now_);
    Settle();
  }

 private:
  bool Move(Endpoint& from, Endpoint& to) {
    const std::size_t n = from.Transmit(out_, now_);
    for (std::size_t i = 0; i < n; ++i) {
      const Path& p = out_[i].path;
      in_[i] = {
          out_[i].bytes, 0, {p.remote, p.local, p.remote_udp_port, p.local_udp_port}, out_[i].ecn};
    }
    to.Receive(std::span(in_).first(n), now_);
    return n > 0;
  }

  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  SeededRandom random_a_, random_b_;
  TimePoint now_ = TimePoint() + seconds(1);
  Path path_;
  std::unique_ptr<Endpoint> a_, b_;
  ConnId server_;
  std::array<OutboundDatagram, 64> out_;
  std::array<InboundDatagram, 64> in_;
};

ListenParams Listening() {
  ListenParams params;
  params.port = kPort;
  return params;
}

// Connections that fail in every way, and Ack Vector and feature state of those that do not.
TEST(Memory, Bug_G5_Cve_2019_20096_ThousandsOfConnectionsLeaveNoMemoryBehind) {
  constexpr int kRounds = 4000 / static_cast<int>(kEffortDivisor);
  NoDistance pair;
  ASSERT_TRUE(pair.b().Listen(Listening()).ok());
  ConnectParams bad;
  bad.path = pair.path();
  bad.remote_port = kPort;
  const std::array<std::byte, 500> data = {};
  const auto round = [&](int i) {
    ConnectParams unsupported = bad;
    unsupported.options.tx_ccids = {CcidId::k2, static_cast<CcidId>(9)};
    EXPECT_FALSE(pair.a().Connect(unsupported, pair.now()).ok());
    ConnectParams narrow = bad;
    narrow.options.sequence_window = 31;
    EXPECT_FALSE(pair.a().Connect(narrow, pair.now()).ok());
    ListenParams taken = Listening();
    EXPECT_FALSE(pair.b().Listen(taken).ok());
    const ConnId client = pair.Connect();
    for (int k = 0; k < 5; ++k) {
      EXPECT_TRUE(pair.a().Send(client, data).ok());
      EXPECT_TRUE(pair.b().Send(pair.server(), data).ok());
    }
    pair.Settle();
    if (i % 3 == 0) {
      EXPECT_TRUE(pair.a().Close(client, pair.now()).ok());
    } else if (i % 3 == 1) {
      EXPECT_TRUE(pair.b().Abort(pair.server(), pair.now()).ok());
    }
    pair.a().Release(client, pair.now());
    pair.Settle();
    pair.b().Release(pair.server(), pair.now());
    pair.Advance(2 * kMsl + seconds(1));
  };
  for (int i = 0; i < kRounds / 4; ++i) round(i);
  const std::size_t before = LiveBytes();
  for (int i = 0; i < kRounds; ++i) round(i);
  EXPECT_LE(LiveBytes(), before + 1024);
  EXPECT_EQ(pair.a().ActiveConnections(), 0u);
  EXPECT_EQ(pair.b().ActiveConnections(), 0u);
}

}  // namespace
}  // namespace dccp
