// Two endpoints without a network between them, for long runs.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"

namespace dccp {

// Joined back to back: what one transmits the other receives at once, so that the round trip is 0.
// The applications read what arrives.
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

  // One round: both transmit, both receive, both run timers, both read.
  void Exchange() {
    now_ += std::chrono::microseconds(200);
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
    read_ += ReadAll(*b_, server_);
    read_by_client_ += ReadAll(*a_, client_);
  }

  // The client's queue, or the server's.
  void Fill(std::size_t bytes) { FillQueue(*a_, client_, bytes); }
  void FillBack(std::size_t bytes) { FillQueue(*b_, server_, bytes); }

  std::uint64_t read() const { return read_; }  // by the server
  std::uint64_t read_by_client() const { return read_by_client_; }
  ConnectionInfo ClientInfo() const { return a_->Info(client_).value(); }
  ConnectionInfo ServerInfo() const { return b_->Info(server_).value(); }

 private:
  static void FillQueue(Endpoint& endpoint, ConnId conn, std::size_t bytes) {
    while (endpoint.ReserveSend(conn, bytes)) ASSERT_TRUE(endpoint.CommitSend(conn, bytes).ok());
  }
  static std::uint64_t ReadAll(Endpoint& endpoint, ConnId conn) {
    std::array<ReceivedDatagram, 64> got;
    std::uint64_t all = 0;
    for (std::size_t n = got.size(); n == got.size(); all += n) n = endpoint.Read(conn, got);
    return all;
  }
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
  std::uint64_t read_ = 0;
  std::uint64_t read_by_client_ = 0;
};

}  // namespace dccp
