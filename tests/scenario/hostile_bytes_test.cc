// An endpoint with a hundred open connections under a flood of packets that nobody should send.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "stack/base/byte_order.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr std::size_t kConnections = 100;
constexpr int kPackets = 200'000;
constexpr Duration kGap = microseconds(25);
constexpr std::uint32_t kRefusalsPerSecond = 1024;
constexpr std::uint32_t kBacklog = 64;

struct Remote {
  Path path;
  std::uint16_t port = 0;
  ConnId conn;
  std::uint64_t next = 0;
  std::vector<TimePoint> syncs;
};

class HostileBytes : public ::testing::Test {
 protected:
  static WirePeerConfig Config() {
    WirePeerConfig config;
    config.fixed_iss = false;
    config.adjust = [](EndpointConfig& endpoint) {
      // Little enough that a leak of one cell in ten packets would use it up.
      endpoint.memory_bytes = 2u << 20;
      endpoint.refusals_per_second = kRefusalsPerSecond;
    };
    return config;
  }

  HostileBytes() : peer_(Config()), random_(42), remotes_(kConnections) {
    ListenParams params;
    params.port = WirePeer::kEndpointPort;
    params.backlog = kBacklog;
    const Result<ListenerId> listener = peer_.endpoint().Listen(params);
    EXPECT_TRUE(listener.ok());
    listener_ = *listener;
    for (std::size_t i = 0; i < remotes_.size(); ++i) Open(remotes_[i], i);
    peer_.Advance(seconds(2));
    peer_.Take();
    EXPECT_EQ(peer_.endpoint().ActiveConnections(), kConnections);
  }

  Bytes Make(const PacketSpec& spec, const Remote& remote) const {
    return Build(spec, remote.port, WirePeer::kEndpointPort, nullptr);
  }

  void Open(Remote& remote, std::size_t i) {
    remote.path = peer_.path();
    remote.path.remote.bytes[3] = static_cast<std::uint8_t>(10 + i % 10);
    remote.port = static_cast<std::uint16_t>(20000 + i);
    remote.next = random_.NextUint64() & SeqNo::kMask;
    peer_.InjectRawFrom(Make(Request(remote.next++), remote), remote.path);
    const SentPacket response = peer_.TakeOne();
    peer_.InjectRawFrom(Make(Ack(remote.next++, response.seq).With(ConfirmsFor(response)), remote),
                        remote.path);
    remote.conn = peer_.conn();
    EXPECT_EQ(peer_.Info().state, State::kOpen);
    by_tuple_[{remote.path.remote.bytes[3], remote.port}] = i;
    peer_.Take();
  }

  // Injects, lets a moment pass, and checks what the packet caused.
  void Attack(const Bytes& bytes, const Path& path, Ecn ecn = Ecn::kNotEct) {
    const std::uint64_t dropped = peer_.DroppedInAll();
    peer_.InjectRawFrom(bytes, path, ecn);
    const std::vector<SentPacket> sent = peer_.Take();
    ASSERT_LE(sent.size(), 1u) << ::testing::PrintToString(sent);
    ASSERT_TRUE(peer_.DroppedInAll() == dropped + 1 || sent.size() == 1)
        << "a packet vanished without a trace";
    for (const SentPacket& packet : sent) Count(packet);
    peer_.Advance(kGap);
    // Nothing that timers do concerns the attacker: no data is under way.
    ASSERT_TRUE(peer_.Take().empty());
  }

  void Count(const SentPacket& packet) {
    ++answers_[packet.type];
    if (packet.type != PacketType::kSync) {
      ASSERT_TRUE(packet.type == PacketType::kReset || packet.type == PacketType::kResponse)
          << ::testing::PrintToString(packet);
      return;
    }
    const auto it = by_tuple_.find({packet.path.remote.bytes[3], packet.destination_port});
    if (it == by_tuple_.end()) return;  // a half-open connection of the attacker's own
    std::vector<TimePoint>& syncs = remotes_[it->second].syncs;
    syncs.push_back(packet.time);
    ASSERT_TRUE(syncs.size() <= 8 || packet.time - syncs[syncs.size() - 9] >= seconds(1))
        << "more than eight Syncs in a second";
  }

  Path OffPath() {
    Path path = peer_.path();
    const std::uint64_t r = random_.NextUint64();
    for (std::size_t i = 0; i < 4; ++i)
      path.remote.bytes[i] = static_cast<std::uint8_t>(r >> (8 * i));
    if (path.remote.bytes[0] == 192) path.remote.bytes[0] = 10;
    path.remote_udp_port = static_cast<std::uint16_t>(r >> 40);
    return path;
  }

  Octets RandomOctets(std::size_t n) {
    Octets out(n);
    random_.Fill(std::as_writable_bytes(std::span(out)));
    return out;
  }

  // Any bytes; three in four get a header that passes the first tests.
  Bytes RandomBytes() {
    Bytes bytes(random_.Below(120));
    random_.Fill(bytes);
    if (bytes.size() < 32 || random_.Below(4) == 0) return bytes;
    StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
    bytes[4] = static_cast<std::byte>(7 + random_.Below(bytes.size() / 4 - 6));
    bytes[5] &= std::byte{0xF1};
    bytes[8] = static_cast<std::byte>(random_.Below(10) << 1 | 1);
    return bytes;
  }

  // A packet as a peer might send it, with a few bytes changed.
  Bytes Mutated(const Remote& remote) {
    const auto type = static_cast<PacketType>(random_.Below(10));
    PacketSpec spec = peer::Make(type, random_.NextUint64(), random_.NextUint64());
    if (random_.Below(2) == 0) {
      spec = spec.With({41, 6, 0, 0, 0, 9, 32, 5, 5, 0, 4, 38, 4, 0, 3});
    } else {
      spec = spec.With(RandomOctets(4 * random_.Below(8)));
    }
    Bytes bytes = Make(spec.Payload("some data"), remote);
    for (std::uint64_t i = random_.Below(4); i > 0; --i)
      bytes[random_.Below(bytes.size())] = static_cast<std::byte>(random_.Below(256));
    if (random_.Below(8) == 0) bytes.resize(random_.Below(bytes.size()));
    return bytes;
  }

  // On the path, but blind: the number is far from every window.
  void SpoilNumbers(Bytes& bytes, const Remote& remote) {
    if (bytes.size() < 16) return;
    StoreBe48(bytes.data() + 10, remote.next + (std::uint64_t{1} << 45) + random_.Below(1u << 30));
    if (bytes.size() < 24) return;
    StoreBe48(bytes.data() + 18, random_.NextUint64() & SeqNo::kMask);
  }

  void ExpectAllWell() {
    EXPECT_EQ(peer_.Dropped(DropReason::kNoBuffers), 0u);
    const double lasted = std::chrono::duration<double>(2 * kPackets * kGap).count() + 1;
    EXPECT_LE(peer_.endpoint().counters().resets_without_connection,
              static_cast<std::uint64_t>(kRefusalsPerSecond * lasted * 1.2));
    EXPECT_TRUE(peer_.endpoint().StopListening(listener_).ok());
    EXPECT_EQ(peer_.endpoint().ActiveConnections(), kConnections);
    for (Remote& remote : remotes_) {
      ASSERT_EQ(peer_.endpoint().Info(remote.conn)->state, State::kOpen);
      peer_.InjectRawFrom(Make(Data(remote.next++, "still here"), remote), remote.path);
      std::array<ReceivedDatagram, 2> datagrams;
      ASSERT_EQ(peer_.endpoint().Read(remote.conn, datagrams), 1u);
      EXPECT_EQ(datagrams[0].bytes.size(), 10u);
      EXPECT_TRUE(peer_.endpoint().Send(remote.conn, datagrams[0].bytes).ok());
    }
    peer_.Advance(seconds(1));
    std::size_t data = 0;
    for (const SentPacket& packet : peer_.Take()) data += packet.payload == "still here" ? 1u : 0u;
    EXPECT_EQ(data, kConnections);
  }

  WirePeer peer_;
  TestRandom random_;
  ListenerId listener_;
  std::vector<Remote> remotes_;
  std::map<std::pair<std::uint8_t, std::uint16_t>, std::size_t> by_tuple_;
  std::map<PacketType, std::uint64_t> answers_;
};

TEST_F(HostileBytes, R4340_EVT_01_SEQ_16_SEC_02_AHundredConnectionsSurviveAFlood) {
  for (int i = 0; i < kPackets && !HasFatalFailure(); ++i) {
    const bool on_path = i % 2 == 0;
    const Remote& remote = remotes_[random_.Below(remotes_.size())];
    Bytes bytes = RandomBytes();
    if (on_path) {
      if (bytes.size() >= 4) StoreBe16(bytes.data(), remote.port);
      SpoilNumbers(bytes, remote);
    }
    Attack(bytes, on_path ? remote.path : OffPath(), static_cast<Ecn>(random_.Below(4)));
  }
  for (int i = 0; i < kPackets && !HasFatalFailure(); ++i) {
    const bool on_path = i % 2 == 0;
    const Remote& remote = remotes_[random_.Below(remotes_.size())];
    Bytes bytes = Mutated(remote);
    if (on_path) SpoilNumbers(bytes, remote);
    Attack(bytes, on_path ? remote.path : OffPath(), static_cast<Ecn>(random_.Below(4)));
  }
  EXPECT_GE(peer_.endpoint().counters().packets_received, std::uint64_t{2 * kPackets});
  // The attack went deep enough to draw every kind of answer.
  EXPECT_GT(answers_[PacketType::kSync], kConnections * 8);
  EXPECT_GT(answers_[PacketType::kReset], kRefusalsPerSecond);
  EXPECT_GT(answers_[PacketType::kResponse], 0u);
  EXPECT_GT(peer_.Dropped(DropReason::kSequenceInvalid), 10'000u);
  ExpectAllWell();
}

}  // namespace
}  // namespace dccp::peer
