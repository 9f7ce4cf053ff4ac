// The hot path allocates nothing: operator new is counted while two endpoints exchange packets.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"
#include "tests/scenario/counting_new.h"

namespace dccp {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Two endpoints joined back to back: what one transmits the other receives at once.
class BackToBack {
 public:
  explicit BackToBack(Encapsulation encapsulation)
      : random_a_(1), random_b_(2), now_(TimePoint() + std::chrono::seconds(1)) {
    registry_.Add(ccid2_);
    EndpointConfig config;
    config.encapsulation = encapsulation;
    config.registry = &registry_;
    config.random = &random_a_;
    a_ = std::move(*Endpoint::Create(config));
    config.random = &random_b_;
    b_ = std::move(*Endpoint::Create(config));
    path_.local.bytes = {127, 0, 0, 1};
    path_.remote.bytes = {127, 0, 0, 2};
    if (encapsulation == Encapsulation::kUdp)
      path_.local_udp_port = path_.remote_udp_port = kDefaultUdpPort;
  }

  void Open() {
    ListenParams listen;
    listen.port = 5001;
    ASSERT_TRUE(b_->Listen(listen).ok());
    ConnectParams connect;
    connect.path = path_;
    connect.remote_port = 5001;
    auto conn = a_->Connect(connect, now_);
    ASSERT_TRUE(conn.ok());
    client_ = *conn;
    for (int i = 0; i < 20; ++i) Exchange();
    ASSERT_TRUE(server_.index != ConnId().index);
  }

  // One round: both transmit, both receive, both run timers, the server reads.
  void Exchange() {
    now_ += microseconds(200);
    Move(*a_, *b_);
    Move(*b_, *a_);
    a_->HandleTimeout(now_);
    b_->HandleTimeout(now_);
    while (a_->PollEvent()) {
    }
    while (const auto event = b_->PollEvent()) {
      if ((event->bits & kEventAccepted) != 0) server_ = event->conn;
    }
    if (server_.index == ConnId().index) return;
    std::array<ReceivedDatagram, 64> got;
    for (std::size_t n = got.size(); n == got.size();) {
      n = b_->Read(server_, got);
      read_ += n;
    }
  }

  void Fill(std::size_t bytes) {
    while (true) {
      auto room = a_->ReserveSend(client_, bytes);
      if (!room) return;
      ASSERT_TRUE(a_->CommitSend(client_, bytes).ok());
      ++sent_;
    }
  }

  std::uint64_t read() const { return read_; }

 private:
  void Move(Endpoint& from, Endpoint& to) {
    while (true) {
      const std::size_t n = from.Transmit(out_, now_);
      if (n == 0) return;
      for (std::size_t i = 0; i < n; ++i) {
        const Path& p = out_[i].path;
        in_[i] = {out_[i].bytes,
                  0,
                  {p.remote, p.local, p.remote_udp_port, p.local_udp_port},
                  out_[i].ecn};
      }
      to.Receive(std::span(in_).first(n), now_);
    }
  }

  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  SeededRandom random_a_, random_b_;
  TimePoint now_;
  Path path_;
  std::unique_ptr<Endpoint> a_, b_;
  ConnId client_, server_;
  std::array<OutboundDatagram, 64> out_;
  std::array<InboundDatagram, 64> in_;
  std::uint64_t sent_ = 0;
  std::uint64_t read_ = 0;
};

class HotPath : public ::testing::TestWithParam<Encapsulation> {};

TEST_P(HotPath, AllocatesNothingOverAHundredThousandPackets) {
  BackToBack pair(GetParam());
  pair.Open();
  // Warm-up: windows, queues and histories reach their working size.
  while (pair.read() < 50'000) {
    pair.Fill(1000);
    pair.Exchange();
  }
  const std::uint64_t before = AllocationCount();
  const std::uint64_t goal = pair.read() + 100'000;
  while (pair.read() < goal) {
    pair.Fill(1000);
    pair.Exchange();
  }
  EXPECT_EQ(AllocationCount() - before, 0u);
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, HotPath,
                         ::testing::Values(Encapsulation::kUdp, Encapsulation::kNative));

}  // namespace
}  // namespace dccp
