// RFC 4340 §12 (ECN), §13 (timing options), §14 (maximum packet size).

#include <gtest/gtest.h>

#include <span>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- ECN

TEST(EcnMarks, R4340_ECN_01_DataAndAcksAreSentCapable) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("x").ok());
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  peer.Inject(Sync(peer.Next(), peer.gss()));
  const auto sent = peer.Take();
  EXPECT_GE(sent.size(), 3u);
  EXPECT_THAT(sent, Each(HasEcn(Ecn::kEct0)));
}

TEST(EcnMarks, R4340_ECN_03_ECN_06_NothingIsMarkedForAPeerThatCannotReadIt) {
  WirePeer peer;
  peer.OpenAsServer({1, 32, 4, 4, 1});
  EXPECT_EQ(peer.Feature(FeatureNumber::kEcnIncapable, false), 1u);
  ASSERT_TRUE(peer.Send("x").ok());
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  peer.Inject(Sync(peer.Next(), peer.gss()));
  peer.Inject(Close(peer.Next(), peer.gss()));
  const auto sent = peer.Take();
  EXPECT_GE(sent.size(), 4u);
  EXPECT_THAT(sent, Each(HasEcn(Ecn::kNotEct)));
}

WirePeerConfig Blind() {
  WirePeerConfig config;
  config.adjust = [](EndpointConfig& endpoint) { endpoint.reads_ecn = false; };
  return config;
}

TEST(EcnMarks, R4340_ECN_04_WhoCannotReadMarksSaysSo) {
  WirePeer client(Blind());
  client.Connect();
  EXPECT_THAT(client.TakeOne(), HasMandatory(OptionType::kChangeL, {4, 1}));
  WirePeer server(Blind());
  server.Listen();
  server.Inject(Request(5000));
  EXPECT_THAT(server.TakeOne(), HasMandatory(OptionType::kChangeL, {4, 1}));
}

TEST(EcnMarks, R4340_ECN_04_FN_40_XFER_03_AndTakesNoDataBeforeTheConfirm) {
  WirePeer peer(Blind());
  peer.Listen();
  peer.Inject(Request(5000));
  const SentPacket response = peer.TakeOne();
  peer.Inject(DataAck(5001, response.seq, "early"));
  EXPECT_THAT(peer.Read(), IsEmpty());
  const auto sent = peer.Take();
  EXPECT_THAT(sent, Contains(HasOption(OptionType::kDataDropped, ElementsAre(0x80))));
  peer.Inject(DataAck(5002, peer.gss(), "later").With(ConfirmsFor(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("later"));
}

// ---- timing options

TEST(Timing, R4340_TIM_01_RequestsAndResponsesCarryATimestamp) {
  WirePeer client;
  client.Connect();
  client.Advance(seconds(1));
  const auto sent = client.Take();
  ASSERT_EQ(sent.size(), 2u);
  const auto value = [](const SentPacket& packet) {
    std::uint32_t v = 0;
    for (std::uint8_t b : packet.Find(OptionType::kTimestamp)->data) v = v << 8 | b;
    return v;
  };
  EXPECT_EQ(value(sent[1]) - value(sent[0]), 100'000u);
}

TEST(Timing, R4340_TIM_02_TIM_07_TheNextPacketEchoesWhateverItsType) {
  const Octets timestamp = {41, 6, 1, 2, 3, 4};
  const auto echo = HasOption(OptionType::kTimestampEcho, ElementsAre(1, 2, 3, 4));
  WirePeer sync;
  sync.OpenAsServer();
  sync.Inject(Sync(sync.Next(), sync.gss()).With(timestamp));
  EXPECT_THAT(sync.Take(), ElementsAre(AllOf(HasType(PacketType::kSyncAck), echo)));
  WirePeer data;
  data.OpenAsServer();
  data.Inject(Ack(data.Next(), data.gss()).With(timestamp));
  EXPECT_THAT(data.Take(), IsEmpty());
  ASSERT_TRUE(data.Send("x").ok());
  ASSERT_TRUE(data.Send("y").ok());
  EXPECT_THAT(data.Take(), ElementsAre(AllOf(HasType(PacketType::kData), echo),
                                       Not(HasOption(OptionType::kTimestampEcho))));
  WirePeer ack;
  ack.OpenAsServer();
  ack.Inject(Data(ack.Next(), "x").With(timestamp));
  ack.Inject(Data(ack.Next(), "x"));
  EXPECT_THAT(ack.Take(), ElementsAre(AllOf(HasType(PacketType::kAck), echo)));
  WirePeer close;
  close.OpenAsServer();
  close.Inject(Close(close.Next(), close.gss()).With(timestamp));
  EXPECT_THAT(close.Take(), ElementsAre(AllOf(HasType(PacketType::kReset), echo)));
}

TEST(Timing, R4340_TIM_02_LNX_30_Bug_A25_TheResponseEchoesItsOwnRequest) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({41, 6, 0, 0, 0, 1}));
  Bytes other = peer.BuildPacket(Request(6000).With({41, 6, 0, 0, 0, 2}));
  other[1] ^= std::byte{1};
  peer.InjectRaw(other);
  EXPECT_THAT(peer.Take(),
              ElementsAre(HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 1)),
                          HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 2))));
}

TEST(Timing, R4340_TIM_06_TIM_05_ElapsedTimeOfAnEchoHasItsSmallestForm) {
  const auto echo_after = [](Duration d) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Ack(peer.Next(), peer.gss()).With({41, 6, 0, 0, 0, 9}));
    peer.Advance(d);
    EXPECT_TRUE(peer.Send("x").ok());
    return peer.TakeOne();
  };
  EXPECT_THAT(echo_after(Duration::zero()),
              HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 9)));
  EXPECT_THAT(echo_after(microseconds(655'359)),
              HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 9, 0xFF, 0xFF)));
  EXPECT_THAT(echo_after(microseconds(655'360)),
              HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 9, 0, 1, 0, 0)));
}

TEST(Timing, R4340_TIM_03_TIM_04_ElapsedTimeOfADelayedAck) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(peer.Next(), "x"));
  peer.Advance(milliseconds(200));
  EXPECT_THAT(peer.Take(),
              ElementsAre(HasOption(OptionType::kElapsedTime, ElementsAre(0x4E, 0x20))));
}

TEST(Timing, R4340_TIM_08_TheHandshakeGivesARoundTripTime) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  Octets echo = {42, 8};
  const Octets& value = request.Find(OptionType::kTimestamp)->data;
  echo.insert(echo.end(), value.begin(), value.end());
  echo.insert(echo.end(), {0x03, 0xE8});  // 10 ms of the peer's own
  peer.Advance(milliseconds(60));
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)).With(echo));
  EXPECT_GE(peer.Info().rtt, milliseconds(50));
  EXPECT_LT(peer.Info().rtt, milliseconds(60));
}

// ---- maximum packet size

WirePeerConfig Over(Encapsulation encapsulation, IpFamily family) {
  WirePeerConfig config;
  config.encapsulation = encapsulation;
  config.family = family;
  return config;
}

std::size_t LowerBytes(Encapsulation encapsulation, IpFamily family) {
  return (family == IpFamily::kV4 ? 20u : 40u) + (encapsulation == Encapsulation::kUdp ? 8u : 0u);
}

TEST(PacketSize, R4340_MPS_01_MPS_02_Bug_C25_TheLargestDatagramFitsThePath) {
  for (const Encapsulation encapsulation : {Encapsulation::kUdp, Encapsulation::kNative}) {
    for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
      WirePeer peer(Over(encapsulation, family));
      peer.OpenAsServer();
      const std::size_t lower = LowerBytes(encapsulation, family);
      const std::uint32_t mps = peer.Info().mps_bytes;
      EXPECT_LE(mps, 1500 - lower - 16);
      EXPECT_GE(mps, 1500 - lower - 16 - 60);
      EXPECT_EQ(peer.Send(std::string(mps + 1, 'x')).error(), Error::kMessageTooLarge);
      // Full packets pass with whatever has to be acknowledged.
      for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(peer.Send(std::string(mps, 'x')).ok());
        peer.Inject(DataAck(peer.Next() + 2, peer.gss(), "x").With({38, 3, 1}));
        peer.Next();
        peer.Next();
      }
      std::size_t largest = 0;
      int data = 0;
      for (const SentPacket& packet : peer.Take()) {
        largest = std::max(largest, packet.bytes.size() + lower);
        data += packet.payload.empty() ? 0 : 1;
      }
      EXPECT_LE(largest, 1500u);
      EXPECT_GT(data, 3);
    }
  }
}

// One packet sent and not acknowledged, to be quoted by routers.
SentPacket OneInFlight(WirePeer& peer) {
  EXPECT_TRUE(peer.Send(std::string(100, 'x')).ok());
  return peer.TakeOne();
}

TEST(PacketSize, R4340_MPS_06_Bug_C32_TooBigLowersTheSize) {
  WirePeer peer(Over(Encapsulation::kNative, IpFamily::kV4));
  peer.OpenAsServer();
  const std::uint32_t before = peer.Info().mps_bytes;
  const SentPacket packet = OneInFlight(peer);
  peer.Icmp(IcmpKind::kTooBig, packet.bytes, 600);
  EXPECT_EQ(peer.Info().mps_bytes, before - 900);
  EXPECT_NE(peer.TakeEvents() & kEventMpsChanged, 0u);
  EXPECT_EQ(peer.Send(std::string(before, 'x')).error(), Error::kMessageTooLarge);
  // A router that claims more than we knew is not believed.
  peer.Icmp(IcmpKind::kTooBig, packet.bytes, 1400);
  EXPECT_EQ(peer.Info().mps_bytes, before - 900);
  // One that does not say takes us to the next plateau, 508.
  peer.Icmp(IcmpKind::kTooBig, packet.bytes, 0);
  EXPECT_EQ(peer.Info().mps_bytes, before - 992);
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(PacketSize, R4340_MPS_07_Bug_C15_Bug_C29_AQuoteMustNameAPacketInFlight) {
  WirePeer peer(Over(Encapsulation::kNative, IpFamily::kV4));
  peer.OpenAsServer();
  const std::uint32_t before = peer.Info().mps_bytes;
  const SentPacket packet = OneInFlight(peer);
  const std::span<const std::byte> all = packet.bytes;
  for (const std::size_t n : {0u, 4u, 8u, 11u, 12u, 15u}) {
    peer.Icmp(IcmpKind::kTooBig, all.first(n), 600);
    EXPECT_EQ(peer.Info().mps_bytes, before) << n;
  }
  for (const std::uint64_t wrong : {packet.seq + 1, packet.seq + 5000, kIss - 1}) {
    Bytes forged = packet.bytes;
    for (int i = 0; i < 6; ++i)
      forged[static_cast<std::size_t>(15 - i)] = static_cast<std::byte>(wrong >> (8 * i));
    peer.Icmp(IcmpKind::kTooBig, forged, 600);
    EXPECT_EQ(peer.Info().mps_bytes, before) << wrong;
  }
  peer.Icmp(IcmpKind::kTooBig, all.first(16), 600);
  EXPECT_EQ(peer.Info().mps_bytes, before - 900);
}

TEST(PacketSize, R4340_MPS_11_WhatWasQueuedIsNotSentTooLarge) {
  WirePeer peer(Over(Encapsulation::kNative, IpFamily::kV4));
  peer.OpenAsServer();
  const SentPacket packet = OneInFlight(peer);
  // The window holds back some of these.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(peer.Send(std::string(1200, 'x')).ok());
  peer.Take();
  peer.Icmp(IcmpKind::kTooBig, packet.bytes, 600);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 10}));
  peer.Advance(seconds(5));
  for (const SentPacket& sent : peer.Take()) {
    EXPECT_TRUE(sent.bytes.size() + 20 <= 600 || sent.may_fragment)
        << ::testing::PrintToString(sent);
  }
}

}  // namespace
}  // namespace dccp::peer
