// An endpoint at work on hand-made packets, and two that talk to each other without a network.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "stack/wire/checksum.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"

namespace dccp {

// SplitMix64.
class TestRandom final : public RandomSource {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  void Fill(std::span<std::byte> out) override {
    for (std::byte& b : out) {
      std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      b = static_cast<std::byte>(z >> 56);
    }
  }

 private:
  std::uint64_t state_;
};

inline IpAddress V4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  IpAddress address;
  address.bytes = {a, b, c, d};
  return address;
}

// As the host 192.0.2.1 sees it.
inline Path UdpPath() { return {V4(192, 0, 2, 1), V4(192, 0, 2, 2), 6511, 40000}; }
inline Path NativePath() { return {V4(192, 0, 2, 1), V4(192, 0, 2, 2), 0, 0}; }
inline Path Reverse(const Path& path) {
  return {path.remote, path.local, path.remote_udp_port, path.local_udp_port};
}

using Bytes = std::vector<std::byte>;

// What an endpoint sent, kept beyond the next Transmit().
struct SentDatagram {
  Bytes bytes;
  Path path;
  Ecn ecn;

  PacketView view() const {
    PacketView packet;
    EXPECT_EQ(PacketView::Parse(bytes, &packet), ParseError::kNone);
    return packet;
  }
};

struct TestHost {
  explicit TestHost(Encapsulation encapsulation = Encapsulation::kUdp, std::uint64_t seed = 1,
                    const std::function<void(EndpointConfig&)>& adjust = {})
      : random(seed) {
    EXPECT_TRUE(registry.Add(ccid2));
    EndpointConfig config;
    config.encapsulation = encapsulation;
    config.registry = &registry;
    config.random = &random;
    if (adjust) adjust(config);
    endpoint = std::move(Endpoint::Create(config).value());
  }

  std::uint64_t dropped(DropReason reason) const {
    return endpoint->counters().dropped[static_cast<std::size_t>(reason)];
  }
  void Receive(std::span<const std::byte> bytes, const Path& path, TimePoint now) {
    InboundDatagram datagram;
    datagram.bytes = bytes;
    datagram.path = path;
    endpoint->Receive(std::span(&datagram, 1), now);
  }
  std::vector<SentDatagram> Sent(TimePoint now) {
    std::vector<SentDatagram> all;
    std::array<OutboundDatagram, 16> out;
    while (const std::size_t n = endpoint->Transmit(out, now)) {
      for (const OutboundDatagram& d : std::span(out).first(n))
        all.push_back({{d.bytes.begin(), d.bytes.end()}, d.path, d.ecn});
    }
    return all;
  }
  std::vector<Event> Events() {
    std::vector<Event> all;
    while (const std::optional<Event> event = endpoint->PollEvent()) all.push_back(*event);
    return all;
  }

  Ccid2Factory ccid2;
  CcidRegistry registry;
  TestRandom random;
  std::unique_ptr<Endpoint> endpoint;
};

// A packet as the remote end of `path` sends it, with a good checksum.
inline Bytes MakePacket(const HeaderFields& fields, const Path& path, std::size_t payload = 0) {
  Bytes bytes(FixedHeaderBytes(fields.type, fields.extended) + payload);
  WriteHeader(fields, {}, std::span(bytes).first(bytes.size() - payload));
  StoreChecksum(bytes, ComputeChecksum(path.remote, path.local, bytes, bytes.size()));
  return bytes;
}

inline HeaderFields Fields(PacketType type, std::uint64_t seq = 1000, std::uint64_t ack = 2000) {
  HeaderFields fields;
  fields.source_port = 50000;
  fields.destination_port = 5001;
  fields.type = type;
  fields.seq = SeqNo(seq);
  fields.ack = SeqNo(ack);
  fields.extended = true;
  return fields;
}

// Two hosts joined by a wire without delay. `a` connects, `b` listens on port 5001.
struct HostPair {
  explicit HostPair(Encapsulation encapsulation = Encapsulation::kUdp,
                    const std::function<void(EndpointConfig&)>& adjust = {})
      : a(encapsulation, 1, adjust),
        b(encapsulation, 2, adjust),
        path(encapsulation == Encapsulation::kUdp ? UdpPath() : NativePath()) {}

  Result<ListenerId> Listen(std::uint32_t backlog = 4096) {
    ListenParams params;
    params.port = 5001;
    params.backlog = backlog;
    return b.endpoint->Listen(params);
  }
  ConnectParams Params() const {
    ConnectParams params;
    params.path = path;
    params.remote_port = 5001;
    return params;
  }
  ConnId Connect() { return a.endpoint->Connect(Params(), now).value(); }

  // Carries packets until both fall silent; `keep` decides about each, true: it arrives.
  void Exchange(const std::function<bool(bool from_a, const SentDatagram&)>& keep = {}) {
    for (int round = 0; round < 1000; ++round) {
      bool silent = true;
      for (const bool from_a : {true, false}) {
        for (const SentDatagram& sent : (from_a ? a : b).Sent(now)) {
          silent = false;
          if (keep && !keep(from_a, sent)) continue;
          (from_a ? b : a).Receive(sent.bytes, Reverse(sent.path), now);
        }
      }
      if (silent) return;
    }
    ADD_FAILURE() << "the endpoints do not fall silent";
  }
  void Advance(Duration d) {
    now += d;
    a.endpoint->HandleTimeout(now);
    b.endpoint->HandleTimeout(now);
  }
  // A connection that is open on both sides; fills the ids.
  void Establish() {
    ASSERT_TRUE(Listen().ok());
    conn_a = Connect();
    Exchange();
    for (const Event& event : b.Events()) {
      if ((event.bits & kEventAccepted) != 0) conn_b = event.conn;
    }
    a.Events();
    ASSERT_TRUE(b.endpoint->Info(conn_b).ok());
    ASSERT_EQ(a.endpoint->Info(conn_a)->state, State::kOpen);
  }

  TestHost a;
  TestHost b;
  Path path;  // as a sees it
  TimePoint now = TimePoint(std::chrono::seconds(100));
  ConnId conn_a;
  ConnId conn_b;
};

}  // namespace dccp
