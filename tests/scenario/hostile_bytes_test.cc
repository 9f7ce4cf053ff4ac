// An endpoint with a hundred open connections under a flood of packets that nobody should send.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "stack/base/byte_order.h"
#include "stack/wire/checksum.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"
#include "tests/scenario/counting_new.h"
#include "tests/scenario/test_effort.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr std::size_t kConnections = 100;
// A million of either kind over both encapsulations; never so few that what fills up has not filled
// when the test begins to look.
constexpr std::uint64_t kPackets = 500'000 / std::min<std::uint64_t>(kEffortDivisor, 4);
constexpr Duration kGap = microseconds(25);
constexpr std::uint32_t kRefusalsPerSecond = 1024;
constexpr std::uint32_t kBacklog = 64;

// What IP alone adds: UDP would make the answers look smaller still.
constexpr std::size_t kIpBytes = 20;
// The slab that packets and queues live in grows by chunks of 128 KiB, and a late peak may take one
// more. A quarter of a byte a packet would be above this.
constexpr std::size_t kMaxGrowthBytes = (128u + 16u) << 10;

struct Remote {
  Path path;
  std::uint16_t port = 0;
  ConnId conn;
  std::uint64_t next = 0;
  std::array<TimePoint, 8> syncs = {};  // the latest, in a ring
  std::size_t sync_count = 0;
};

// All packets of a connection of two endpoints, from Request to Reset, both ways.
std::vector<Bytes> RealExchange(Encapsulation encapsulation) {
  WirePeerConfig config;
  config.encapsulation = encapsulation;
  config.options.send_ndp_count = true;
  WirePeer server(config);
  server.Listen();
  WirePeer client(config);
  ConnectParams params;
  params.path = client.path();
  params.remote_port = WirePeer::kEndpointPort;
  params.options = config.options;
  const ConnId conn = client.endpoint().Connect(params, client.now()).value();
  std::vector<Bytes> all;
  for (unsigned round = 0; round < 40; ++round) {
    if (round >= 5 && round < 30) {
      std::array<std::byte, 300> data = {};
      EXPECT_TRUE(client.endpoint().Send(conn, std::span(data).first(10 * round)).ok());
      EXPECT_TRUE(server.Send("an answer").ok());
      server.Read();
    }
    if (round == 35) {
      EXPECT_TRUE(client.endpoint().Close(conn, client.now()).ok());
    }
    client.Advance(std::chrono::milliseconds(10));
    server.Advance(std::chrono::milliseconds(10));
    for (const SentPacket& packet : client.Take()) {
      all.push_back(packet.bytes);
      server.InjectRaw(packet.bytes);
    }
    for (const SentPacket& packet : server.Take()) {
      all.push_back(packet.bytes);
      client.InjectRaw(packet.bytes);
    }
  }
  EXPECT_EQ(client.endpoint().Info(conn)->state, State::kTimeWait);
  EXPECT_GE(all.size(), 50u);
  return all;
}

class HostileBytes : public ::testing::TestWithParam<Encapsulation> {
 protected:
  static WirePeerConfig Config() {
    WirePeerConfig config;
    config.encapsulation = GetParam();
    config.fixed_iss = false;
    config.adjust = [](EndpointConfig& endpoint) {
      // Little enough that a leak of one cell in ten packets would use it up.
      endpoint.memory_bytes = 2u << 20;
      endpoint.refusals_per_second = kRefusalsPerSecond;
    };
    return config;
  }

  HostileBytes()
      : peer_(Config()), random_(42), exchange_(RealExchange(GetParam())), remotes_(kConnections) {
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
    const bool native = GetParam() == Encapsulation::kNative;
    return Build(spec, remote.port, WirePeer::kEndpointPort, native ? &remote.path : nullptr);
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
    for (const SentPacket& packet : sent) {
      Count(packet);
      ASSERT_LE(packet.bytes.size() + kIpBytes, 3 * (bytes.size() + kIpBytes));
    }
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
    Remote& remote = remotes_[it->second];
    TimePoint& eight_ago = remote.syncs[remote.sync_count % remote.syncs.size()];
    ASSERT_TRUE(remote.sync_count < remote.syncs.size() || packet.time - eight_ago >= seconds(1))
        << "more than eight Syncs in a second";
    eight_ago = packet.time;
    ++remote.sync_count;
  }

  Path OffPath() {
    Path path = peer_.path();
    const std::uint64_t r = random_.NextUint64();
    for (std::size_t i = 0; i < 4; ++i)
      path.remote.bytes[i] = static_cast<std::uint8_t>(r >> (8 * i));
    if (path.remote.bytes[0] == 192) path.remote.bytes[0] = 10;
    if (GetParam() == Encapsulation::kUdp)
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

  // A packet of the real exchange, or one of the remote's own making, with a few bytes changed.
  Bytes Mutated(const Remote& remote) {
    Bytes bytes;
    if (random_.Below(2) == 0) {
      bytes = exchange_[random_.Below(exchange_.size())];
      StoreBe16(bytes.data(), remote.port);
      StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
    } else {
      const auto type = static_cast<PacketType>(random_.Below(10));
      const PacketSpec spec = peer::Make(type, random_.NextUint64(), random_.NextUint64());
      bytes = Make(spec.With(RandomOctets(4 * random_.Below(8))).Payload("some data"), remote);
    }
    for (std::uint64_t i = random_.Below(4); i > 0; --i)
      bytes[random_.Below(bytes.size())] = static_cast<std::byte>(random_.Below(256));
    if (random_.Below(8) == 0) bytes.resize(random_.Below(bytes.size()));
    return bytes;
  }

  // Half of the packets get past the checksum.
  void MendChecksum(Bytes& bytes, const Path& path) {
    PacketView view;
    if (GetParam() == Encapsulation::kUdp || random_.Below(2) == 0) return;
    if (PacketView::Parse(bytes, &view) != ParseError::kNone) return;
    StoreChecksum(bytes, ComputeChecksum(path.remote, path.local, bytes, view.covered_bytes()));
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
    const double lasted =
        std::chrono::duration<double>(std::int64_t{2 * kPackets} * kGap).count() + 1;
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
  const std::vector<Bytes> exchange_;
  ListenerId listener_;
  std::vector<Remote> remotes_;
  std::map<std::pair<std::uint8_t, std::uint16_t>, std::size_t> by_tuple_;
  std::map<PacketType, std::uint64_t> answers_;
};

TEST_P(HostileBytes, R4340_EVT_01_SEQ_16_SEC_02_AHundredConnectionsSurviveAFlood) {
  std::size_t settled_bytes = 0;
  for (std::uint64_t i = 0; i < 2 * kPackets && !HasFatalFailure(); ++i) {
    // Each kind of attack first fills what it can, the backlog most of all; then nothing grows.
    if (i % kPackets == kPackets / 4) settled_bytes = LiveBytes();
    if (i % kPackets == kPackets - 1) {
      EXPECT_LE(LiveBytes(), settled_bytes + kMaxGrowthBytes);
    }
    const bool on_path = i % 2 == 0;
    const Remote& remote = remotes_[random_.Below(remotes_.size())];
    Bytes bytes = i < kPackets ? RandomBytes() : Mutated(remote);
    if (on_path) {
      if (i < kPackets && bytes.size() >= 4) StoreBe16(bytes.data(), remote.port);
      SpoilNumbers(bytes, remote);
    }
    const Path path = on_path ? remote.path : OffPath();
    MendChecksum(bytes, path);
    Attack(bytes, path, static_cast<Ecn>(random_.Below(4)));
  }
  EXPECT_GE(peer_.endpoint().counters().packets_received, std::uint64_t{2 * kPackets});
  // The attack went deep enough to draw every kind of answer.
  EXPECT_GT(answers_[PacketType::kSync], kConnections * 3);
  EXPECT_GT(answers_[PacketType::kReset], kRefusalsPerSecond / 8);
  EXPECT_GT(answers_[PacketType::kResponse], 0u);
  EXPECT_GT(peer_.Dropped(DropReason::kSequenceInvalid), kPackets / 20);
  ExpectAllWell();
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, HostileBytes,
                         ::testing::Values(Encapsulation::kUdp, Encapsulation::kNative));

}  // namespace
}  // namespace dccp::peer
