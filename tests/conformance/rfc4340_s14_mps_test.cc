// RFC 4340 §14: fragmentation on request, options beside full-size data, odd ICMP, discovery by
// padded Syncs (RFC 8899), and §10.5, another path.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t kLowerBytes = 28;  // IPv4 and UDP

std::size_t IpBytes(const SentPacket& packet) { return packet.bytes.size() + kLowerBytes; }

// The interface's MTU, which a test may change.
class Interface final : public PathMtuSource {
 public:
  std::uint32_t InitialMtu(const Path& /*path*/) override { return mtu; }
  std::uint32_t mtu = 1500;
};

// The endpoint sends `bytes` of data that the peer reports lost: three packets sent later arrived.
void LoseData(WirePeer& peer, std::size_t bytes) {
  ASSERT_TRUE(peer.Send(std::string(bytes, 'x')).ok());
  ASSERT_THAT(peer.Take(), Contains(Field("payload", &SentPacket::payload, Not(IsEmpty()))));
  for (int i = 0; i < 3; ++i) peer.Inject(Sync(peer.Next(), peer.gss()));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, 0x02, 0xC0}));
  peer.Take();
}

// Datagrams of full size vanish; the first probe is due.
void MakeDoubt(WirePeer& peer) {
  for (int i = 0; i < 3; ++i) {
    peer.Advance(milliseconds(400));
    peer.Take();
    const std::uint64_t before = peer.Info().counters.mtu_probes;
    ASSERT_EQ(before, 0u);
    LoseData(peer, peer.Info().mps_bytes);
  }
}

// Lets time pass until the endpoint sends a padded Sync.
SentPacket NextProbe(WirePeer& peer) {
  for (int i = 0; i < 200; ++i) {
    for (const SentPacket& packet : peer.Take()) {
      if (packet.type == PacketType::kSync && !packet.payload.empty()) return packet;
    }
    peer.Advance(milliseconds(50));
  }
  ADD_FAILURE() << "no probe";
  return {};
}

// ---- fragmentation

TEST(Fragmentation, R4340_MPS_03_MPS_10_OnlyOnRequest) {
  WirePeer plain;
  plain.OpenAsServer();
  EXPECT_EQ(plain.Send(std::string(5000, 'x')).error(), Error::kMessageTooLarge);
  ASSERT_TRUE(plain.Send(std::string(1000, 'x')).ok());
  EXPECT_THAT(plain.Take(), Each(Field(&SentPacket::may_fragment, false)));

  WirePeerConfig config;
  config.options.allow_fragmentation = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  const std::uint32_t mps = peer.Info().mps_bytes;
  EXPECT_GT(mps, 65000u);
  EXPECT_LE(mps + 24 + kLowerBytes, 65535u);
  ASSERT_TRUE(peer.Send(std::string(5000, 'y')).ok());
  ASSERT_TRUE(peer.Send(std::string(mps, 'z')).ok());
  EXPECT_THAT(
      peer.Take(),
      ElementsAre(
          AllOf(HasPayload(std::string(5000, 'y')), Field(&SentPacket::may_fragment, true)),
          AllOf(HasPayload(std::string(mps, 'z')), Field(&SentPacket::may_fragment, true))));
  EXPECT_EQ(peer.Send(std::string(mps + 1, 'x')).error(), Error::kMessageTooLarge);
}

TEST(Fragmentation, R4340_MPS_05_TheSizeDoesNotFollowThePath) {
  WirePeerConfig config;
  config.options.allow_fragmentation = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  const std::uint32_t mps = peer.Info().mps_bytes;
  ASSERT_TRUE(peer.Send(std::string(3000, 'x')).ok());
  peer.Icmp(IcmpKind::kTooBig, peer.Take().back().bytes, 600);
  EXPECT_EQ(peer.Info().mps_bytes, mps);
  EXPECT_EQ(peer.Info().path_mtu_bytes, 600u);
  ASSERT_TRUE(peer.Send(std::string(3000, 'x')).ok());
  EXPECT_THAT(peer.Take(), Contains(HasPayload(std::string(3000, 'x'))));
}

// ---- options beside data

TEST(FullSize, R4340_MPS_04_ACK_04_Bug_C25_ALongAckVectorTravelsOnItsOwn) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  const std::uint32_t mps = peer.Info().mps_bytes;
  // Every second packet of the peer is lost: a vector of two cells each. None of them acknowledges.
  std::uint64_t last = 0;
  for (int i = 0; i < 60; ++i) {
    peer.Next();
    last = peer.Next();
    peer.Inject(Data(last, "x"));
  }
  peer.Advance(seconds(1));
  peer.Take();
  const std::string full(mps, 'f');
  peer.Next();
  last = peer.Next();
  peer.Inject(Data(last, "x"));
  ASSERT_TRUE(peer.Send(full).ok());
  const auto sent = peer.Take();
  EXPECT_THAT(sent, Contains(HasPayload(full)));
  bool vector = false;
  for (const SentPacket& packet : sent) {
    EXPECT_LE(IpBytes(packet), 1500u);
    const WireOption* option = packet.Find(OptionType::kAckVectorNonce0);
    if (option == nullptr) continue;
    EXPECT_TRUE(packet.payload.empty());
    EXPECT_EQ(packet.ack, last);
    vector = vector || option->data.size() >= 100;
  }
  EXPECT_TRUE(vector);
}

// ---- ICMP

TEST(OddTooBig, R4340_MPS_07_ManyOfThemAndLossesAreProbedNotObeyed) {
  WirePeer peer;
  peer.OpenAsServer();
  const std::uint32_t mps = peer.Info().mps_bytes;
  ASSERT_TRUE(peer.Send("x").ok());
  const SentPacket packet = peer.Take().back();
  // Eight bytes, all that RFC 792 promises, hold no sequence number.
  const auto odd = std::span(packet.bytes).first(8);
  for (int i = 0; i < 3; ++i) peer.Icmp(IcmpKind::kTooBig, odd, 600);
  for (int i = 0; i < 4; ++i) LoseData(peer, 100);
  peer.Advance(milliseconds(1));
  EXPECT_EQ(peer.Info().counters.mtu_probes, 0u);
  peer.Icmp(IcmpKind::kTooBig, odd, 600);
  const SentPacket probe = NextProbe(peer);
  EXPECT_EQ(IpBytes(probe), 1500u);
  EXPECT_EQ(peer.Info().mps_bytes, mps);
  // The path carries it: whoever sent those messages is disbelieved.
  peer.Inject(SyncAck(peer.Next(), probe.seq));
  peer.Advance(seconds(30));
  EXPECT_EQ(peer.Info().mps_bytes, mps);
  EXPECT_EQ(peer.Info().counters.mtu_probes, 1u);
}

TEST(OddTooBig, R4340_MPS_07_WithoutProbingTheyAreObeyed) {
  WirePeerConfig config;
  config.options.probe_path_mtu = false;
  WirePeer peer(config);
  peer.OpenAsServer();
  const std::uint32_t mps = peer.Info().mps_bytes;
  ASSERT_TRUE(peer.Send("x").ok());
  const SentPacket packet = peer.Take().back();
  const auto odd = std::span(packet.bytes).first(8);
  for (int i = 0; i < 20; ++i) peer.Icmp(IcmpKind::kTooBig, odd, 600);
  EXPECT_EQ(peer.Info().mps_bytes, mps) << "nothing was lost";
  for (int i = 0; i < 4; ++i) LoseData(peer, 100);
  peer.Icmp(IcmpKind::kTooBig, odd, 600);
  EXPECT_EQ(peer.Info().mps_bytes, mps - 900);
  EXPECT_NE(peer.TakeEvents() & kEventMpsChanged, 0u);
}

TEST(TooBig, R4340_MPS_08_ThePacketStillCountsAsLost) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  ASSERT_TRUE(peer.Send(std::string(1400, 'x')).ok());
  const SentPacket packet = peer.TakeOne();
  peer.Icmp(IcmpKind::kTooBig, packet.bytes, 600);
  for (int i = 0; i < 3; ++i) peer.Inject(Sync(peer.Next(), peer.gss()));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, 0x02, 0xC0}));
  EXPECT_EQ(peer.Info().counters.data_packets_lost, 1u);
  EXPECT_EQ(peer.Info().sender.loss_events, 1u);
}

// ---- probing

TEST(Probing, R4340_PKT_11_APaddedSyncIsAnsweredAndItsDataIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  const std::uint64_t seq = peer.Next();
  peer.Inject(Sync(seq, peer.gss()).Payload(std::string(1400, 'p')));
  EXPECT_THAT(peer.Take(), ElementsAre(AllOf(IsSyncAck(peer.gss(), seq), HasPayload(""))));
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Info().counters.data_packets_received, 0u);
}

TEST(Probing, R4340_MPS_09_R8899_PROBE_01_AProbeIsAPaddedSyncThatNobodyMayFragment) {
  WirePeer peer;
  peer.OpenAsServer();
  MakeDoubt(peer);
  const SentPacket probe = NextProbe(peer);
  EXPECT_EQ(IpBytes(probe), 1500u);
  EXPECT_FALSE(probe.may_fragment);
  EXPECT_EQ(probe.ack, peer.PeekNext() - 1);
  EXPECT_EQ(peer.Info().counters.mtu_probes, 1u);
  EXPECT_EQ(peer.Info().mps_bytes, 1500 - kLowerBytes - 24 - 32) << "lowered on evidence only";
  peer.Inject(SyncAck(peer.Next(), probe.seq));
  peer.Advance(seconds(30));
  EXPECT_EQ(peer.Info().counters.mtu_probes, 1u);
}

TEST(Probing, R8899_SEARCH_03_TheSizeIsFoundAndTold) {
  constexpr std::size_t kPathMtu = 1372;
  WirePeer peer;
  peer.OpenAsServer();
  MakeDoubt(peer);
  peer.TakeEvents();
  std::uint32_t events = 0;
  std::size_t probes = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const SentPacket& packet : peer.Take()) {
      if (packet.type != PacketType::kSync) continue;
      ++probes;
      if (IpBytes(packet) <= kPathMtu) peer.Inject(SyncAck(peer.Next(), packet.seq));
    }
    peer.Advance(milliseconds(50));
  }
  events = peer.TakeEvents();
  EXPECT_EQ(peer.Info().path_mtu_bytes, kPathMtu);
  EXPECT_EQ(peer.Info().mps_bytes, kPathMtu - kLowerBytes - 24 - 32);
  EXPECT_NE(events & kEventMpsChanged, 0u);
  EXPECT_EQ(peer.Info().counters.mtu_black_holes, 1u);
  EXPECT_EQ(peer.Info().counters.mtu_probes, probes);
  EXPECT_EQ(peer.Send(std::string(1400, 'x')).error(), Error::kMessageTooLarge);
}

TEST(Probing, R8899_LOSS_03_ALostProbeIsNoCongestion) {
  WirePeer peer;
  peer.OpenAsServer();
  MakeDoubt(peer);
  const SentPacket probe = NextProbe(peer);
  const SenderStats before = peer.Info().sender;
  for (int i = 0; i < 3; ++i) peer.Inject(Sync(peer.Next(), peer.gss()));
  ASSERT_EQ(peer.gss(), probe.seq + 3);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, 0x02, 0xC0}));
  EXPECT_EQ(peer.Info().sender.loss_events, before.loss_events);
  EXPECT_EQ(peer.Info().sender.cwnd_packets, before.cwnd_packets);
  EXPECT_EQ(peer.Info().counters.data_packets_lost, 3u);
  // The acknowledgement told at once what the timer would have told later.
  EXPECT_EQ(IpBytes(NextProbe(peer)), 1500u);
  EXPECT_LT(peer.now() - probe.time, milliseconds(500));
}

TEST(Probing, R8899_RATE_02_ProbesLeaveRoomForOtherSyncs) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  // Whoever forges packets spends the allowance of Syncs: none is left for probes.
  const auto attack = [&] {
    for (int i = 0; i < 20; ++i) peer.Inject(Ack(peer.PeekNext() + 5000, peer.gss() + 5000));
  };
  MakeDoubt(peer);
  peer.Advance(seconds(2));
  peer.Take();
  const std::uint64_t before = peer.Info().counters.mtu_probes;
  std::size_t syncs = 0;
  for (int i = 0; i < 100; ++i) {
    attack();
    peer.Advance(milliseconds(100));
    const auto sent = peer.Take();
    syncs += static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [](const SentPacket& p) { return p.type == PacketType::kSync; }));
  }
  EXPECT_LE(syncs, 8u * 11);
  EXPECT_GE(syncs, 8u * 9);
  // It goes on once that is over.
  peer.Advance(seconds(5));
  EXPECT_GT(peer.Info().counters.mtu_probes, before);
}

TEST(Probing, R8899_OFF_01_NotWhereTheApplicationDoesNotWantIt) {
  for (const bool fragment : {false, true}) {
    WirePeerConfig config;
    config.options.probe_path_mtu = fragment;
    config.options.allow_fragmentation = fragment;
    WirePeer peer(config);
    peer.OpenAsServer();
    for (int i = 0; i < 6; ++i) LoseData(peer, 1400);
    peer.Advance(seconds(60));
    EXPECT_EQ(peer.Info().counters.mtu_probes, 0u);
  }
}

TEST(Rediscovery, R4340_MPS_09_OnceInTwoSeconds) {
  WirePeer peer;
  peer.OpenAsServer();
  const std::uint32_t mps = peer.Info().mps_bytes;
  ASSERT_TRUE(peer.Send(std::string(1000, 'x')).ok());
  peer.Icmp(IcmpKind::kTooBig, peer.Take().back().bytes, 700);
  ASSERT_EQ(peer.Info().mps_bytes, mps - 800);
  peer.TakeEvents();
  ASSERT_TRUE(peer.endpoint().RediscoverMtu(peer.conn(), peer.now()).ok());
  EXPECT_EQ(peer.Info().mps_bytes, mps);
  peer.Advance(milliseconds(1));
  EXPECT_NE(peer.TakeEvents() & kEventMpsChanged, 0u);
  EXPECT_EQ(IpBytes(NextProbe(peer)), 1500u);
  EXPECT_EQ(peer.endpoint().RediscoverMtu(peer.conn(), peer.now()).error(), Error::kBadState);
  peer.Advance(seconds(2));
  EXPECT_TRUE(peer.endpoint().RediscoverMtu(peer.conn(), peer.now()).ok());
  EXPECT_EQ(peer.endpoint().RediscoverMtu(ConnId(), peer.now()).error(), Error::kNoSuchConnection);
}

// ---- another path

TEST(AnotherPath, R4340_FT_07_EverythingKnownOfTheOldOneIsForgotten) {
  Interface interface;
  WirePeerConfig config;
  config.adjust = [&](EndpointConfig& endpoint) { endpoint.mtu = &interface; };
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  // A window that has grown, and a round trip time.
  for (int i = 0; i < 30; ++i) {
    for (int n = 0; n < 8; ++n) ASSERT_TRUE(peer.Send("x").ok());
    peer.Advance(milliseconds(40));
    const auto sent = peer.Take();
    ASSERT_FALSE(sent.empty());
    const auto run = static_cast<std::uint8_t>(sent.size() - 1);
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, run}));
  }
  peer.Take();
  const ConnectionInfo before = peer.Info();
  ASSERT_GT(before.rtt, Duration::zero());
  ASSERT_GT(before.sender.cwnd_packets, 8);
  interface.mtu = 1400;
  ASSERT_TRUE(peer.endpoint().PathChanged(peer.conn(), peer.now()).ok());
  const ConnectionInfo after = peer.Info();
  EXPECT_EQ(after.rtt, Duration::zero());
  EXPECT_LE(after.sender.cwnd_packets, 4);
  EXPECT_EQ(after.sender.srtt, Duration::zero());
  EXPECT_EQ(after.path_mtu_bytes, 1400u);
  EXPECT_EQ(after.mps_bytes, before.mps_bytes - 100);
  EXPECT_EQ(after.state, State::kOpen);
  // The new size is confirmed at once.
  EXPECT_EQ(IpBytes(NextProbe(peer)), 1400u);
  EXPECT_EQ(peer.endpoint().PathChanged(ConnId(), peer.now()).error(), Error::kNoSuchConnection);
  ASSERT_TRUE(peer.Abort().ok());
  EXPECT_EQ(peer.endpoint().PathChanged(peer.conn(), peer.now()).error(), Error::kNotConnected);
}

TEST(AnotherPath, R6773_DMX_01_AnotherUdpPortIsAnotherFlow) {
  // The six-tuple of RFC 6773 §3.8 holds the UDP ports: a packet from elsewhere is of no
  // connection.
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  Path moved = peer.path();
  moved.remote_udp_port = static_cast<std::uint16_t>(moved.remote_udp_port + 1);
  const Bytes bytes = peer.BuildPacket(DataAck(peer.Next(), peer.gss(), "x"));
  peer.InjectRawFrom(bytes, moved);
  EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kReset)));
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.state(), State::kOpen);
}

}  // namespace
}  // namespace dccp::peer
