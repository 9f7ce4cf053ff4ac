// RFC 4340 §3.1 and §5.1 to §5.7: the header and the packet types, as an endpoint reads and writes
// them.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stack/wire/header_layout.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::array kAllTypes = {
    PacketType::kRequest, PacketType::kResponse, PacketType::kData,  PacketType::kAck,
    PacketType::kDataAck, PacketType::kCloseReq, PacketType::kClose, PacketType::kReset,
    PacketType::kSync,    PacketType::kSyncAck,
};

// Everything that an endpoint sends in a life with data, Syncs, an invalid packet and a close.
std::vector<SentPacket> WholeLife(Role role, WirePeerConfig config = {}) {
  WirePeer peer(std::move(config));
  std::vector<SentPacket> all;
  const auto take = [&] {
    for (SentPacket& packet : peer.Take()) all.push_back(std::move(packet));
  };
  if (role == Role::kServer) {
    peer.Listen();
    peer.Inject(Request(peer.Next()));
  } else {
    peer.Connect();
    peer.Inject(Response(peer.Next(), peer.gss()));
  }
  take();
  const Octets confirms = ConfirmsFor(all.front());
  peer.Inject(Ack(peer.Next(), peer.gss()).With(confirms));
  EXPECT_TRUE(peer.Send("one").ok());
  peer.Inject(DataAck(peer.Next(), peer.gss(), "two"));
  peer.Inject(Data(peer.Next(), "three"));
  EXPECT_TRUE(peer.Send("four").ok());
  peer.Inject(Sync(peer.Next(), peer.gss()));
  peer.Inject(Data(peer.PeekNext() + 1000, "far away"));
  EXPECT_TRUE(peer.Close().ok());
  peer.Inject(Close(peer.Next(), peer.gss()));
  take();
  return all;
}

std::vector<SentPacket> BothLives(const WirePeerConfig& config = {}) {
  std::vector<SentPacket> all = WholeLife(Role::kServer, config);
  for (SentPacket& packet : WholeLife(Role::kClient, config)) all.push_back(std::move(packet));
  return all;
}

TEST(Header, R4340_GEN_03_ReservedBitsAreSentAsZero) {
  for (const SentPacket& packet : BothLives()) {
    EXPECT_EQ(std::to_integer<int>(packet.bytes[8]) >> 5, 0) << ::testing::PrintToString(packet);
    EXPECT_EQ(packet.bytes[9], std::byte{0});
    if (packet.ack) {
      EXPECT_EQ(packet.bytes[16], std::byte{0});
      EXPECT_EQ(packet.bytes[17], std::byte{0});
    }
  }
}

Bytes WithReservedBits(Bytes bytes) {
  const bool extended = (bytes[8] & std::byte{1}) != std::byte{0};
  const auto type = static_cast<PacketType>(std::to_integer<int>(bytes[8]) >> 1);
  bytes[8] |= std::byte{0xE0};
  if (extended) bytes[9] = std::byte{0xFF};
  if (extended && HasAckNumber(type)) bytes[16] = bytes[17] = std::byte{0xFF};
  return bytes;
}

TEST(Header, R4340_GEN_04_GEN_05_ReservedBitsAreIgnoredOnReceipt) {
  WirePeer peer;
  peer.Listen();
  const auto inject = [&](const PacketSpec& spec) {
    peer.InjectRaw(WithReservedBits(peer.BuildPacket(spec)));
  };
  inject(Request(5000));
  const SentPacket response = peer.TakeOne();
  EXPECT_THAT(response, IsResponse(1000u, 5000u));
  inject(Ack(5001, 1000).With(ConfirmsFor(response)));
  EXPECT_EQ(peer.state(), State::kOpen);
  peer.Take();
  inject(Data(5002, "data"));
  inject(DataAck(5003, peer.gss(), "more"));
  EXPECT_THAT(peer.Read(), ElementsAre("data", "more"));
  peer.Take();
  inject(Sync(5004, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, 5004u)));
  inject(SyncAck(5005, peer.gss()));
  EXPECT_THAT(peer.Take(), IsEmpty());
  inject(Close(5006, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5006u, 1)));
}

TEST(Header, R4340_HDR_03_ImpossibleDataOffsetsAreDroppedInSilence) {
  for (const PacketType type : kAllTypes) {
    for (const bool extended : {true, false}) {
      if (!extended && !MayUseShortSeqno(type)) continue;
      const std::size_t fixed = FixedHeaderBytes(type, extended);
      for (const std::size_t words : {std::size_t{0}, fixed / 4 - 1, (fixed + 20) / 4 + 1}) {
        WirePeer peer;
        peer.OpenAsServer();
        PacketSpec spec = Make(type, 5002, peer.gss()).Payload("twenty bytes of data");
        spec.extended = extended;
        Bytes bytes = peer.BuildPacket(spec);
        bytes[4] = static_cast<std::byte>(words);
        peer.InjectRaw(bytes);
        EXPECT_THAT(peer.Take(), IsEmpty()) << ToString(type) << " offset " << words;
        EXPECT_EQ(peer.Dropped(DropReason::kBadDataOffset), 1u) << ToString(type);
        EXPECT_THAT(peer.Read(), IsEmpty());
        EXPECT_EQ(peer.state(), State::kOpen);
      }
    }
  }
}

TEST(Header, R4340_HDR_02_HDR_04_SmallestAndLargestOffsetAreTaken) {
  for (const PacketType type : kAllTypes) {
    WirePeer peer;
    peer.OpenAsServer();
    const Bytes shortest = peer.BuildPacket(Make(type, 5002, peer.gss()));
    EXPECT_EQ(shortest.size(), FixedHeaderBytes(type, true));
    peer.InjectRaw(shortest);
    EXPECT_EQ(peer.Dropped(DropReason::kBadDataOffset), 0u) << ToString(type);
  }
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x").With(Octets(1004, 0)));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
}

TEST(Header, R4340_HDR_05_SourcePortsAreRandom) {
  WirePeer peer;
  std::set<std::uint16_t> ports;
  int successors = 0;
  std::uint16_t last = 0;
  for (std::uint16_t i = 0; i < 64; ++i) {
    ConnectParams params;
    params.path = peer.path();
    params.remote_port = static_cast<std::uint16_t>(2000 + i);
    const Result<ConnId> conn = peer.endpoint().Connect(params, peer.now());
    ASSERT_TRUE(conn.ok());
    const std::uint16_t port = peer.endpoint().Info(*conn)->tuple.local_port;
    EXPECT_GE(port, 49152);
    ports.insert(port);
    if (port == last + 1) ++successors;
    last = port;
  }
  EXPECT_GT(ports.size(), 60u);
  EXPECT_LT(successors, 4);
}

TEST(Header, R4340_HDR_07_CcValIsZeroUnderCcid2) {
  for (const SentPacket& packet : BothLives()) EXPECT_EQ(packet.ccval, 0);
}

TEST(Header, R4340_HDR_08_CcValIsIgnoredUnderCcid2) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(peer.Next(), "data").CcVal(15));
  EXPECT_THAT(peer.Read(), ElementsAre("data"));
}

TEST(Header, R4340_HDR_09_UnknownTypesAreNeitherProcessedNorAcknowledged) {
  for (int type = 10; type <= 15; ++type) {
    WirePeer peer;
    peer.OpenAsServer();
    Bytes bytes = peer.BuildPacket(DataAck(5002, peer.gss(), "data"));
    bytes[8] = static_cast<std::byte>(type << 1 | 1);
    peer.InjectRaw(bytes);
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_EQ(peer.Dropped(DropReason::kUnknownType), 1u);
    EXPECT_THAT(peer.Read(), IsEmpty());
    // 5003 shows in the acknowledgement that 5002 was not received.
    peer.Inject(Data(5003, "next"));
    EXPECT_THAT(peer.Take(),
                ElementsAre(IsAck(
                    _, 5003u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(0, 192, 0)))));
  }
}

TEST(Header, R4340_HDR_10_HDR_13_EveryPacketSentHasLongNumbers) {
  for (const SentPacket& packet : BothLives()) EXPECT_TRUE(packet.extended);
}

TEST(Header, R4340_HDR_11_TypesThatMustBeLongAreIgnoredWhenShort) {
  for (const PacketType type : kAllTypes) {
    if (MayUseShortSeqno(type)) continue;
    WirePeer peer;
    peer.OpenAsServer();
    Bytes bytes = peer.BuildPacket(Make(type, 5002, peer.gss()));
    bytes[8] &= std::byte{0xFE};
    peer.InjectRaw(bytes);
    EXPECT_THAT(peer.Take(), IsEmpty()) << ToString(type);
    EXPECT_EQ(peer.Dropped(DropReason::kShortSeqnoNotAllowedForType), 1u) << ToString(type);
    EXPECT_EQ(peer.state(), State::kOpen);
  }
}

TEST(Header, R4340_HDR_14_SEQ_20_EveryPacketTakesTheNextNumber) {
  for (const Role role : {Role::kServer, Role::kClient}) {
    std::uint64_t expected = kIss;
    for (const SentPacket& packet : WholeLife(role))
      EXPECT_EQ(packet.seq, expected++) << ::testing::PrintToString(packet);
    EXPECT_GT(expected, kIss + 6);
  }
}

TEST(Header, R4340_HDR_15_EveryTypeButRequestAndDataAcknowledges) {
  std::set<PacketType> seen;
  for (const SentPacket& packet : BothLives()) {
    seen.insert(packet.type);
    EXPECT_EQ(packet.ack.has_value(),
              packet.type != PacketType::kRequest && packet.type != PacketType::kData);
  }
  EXPECT_GE(seen.size(), 9u);
}

TEST(Header, R4340_HDR_16_EVT_08_AcknowledgementNamesTheGreatestNumberSeen) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5006, "late"));
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(_, 5006u)));
  peer.Inject(Data(5003, "early"));
  peer.Inject(Data(5004, "early"));
  peer.Advance(milliseconds(200));
  const auto sent = peer.Take();
  ASSERT_THAT(sent, Not(IsEmpty()));
  EXPECT_THAT(sent, Each(HasAck(5006u)));
}

TEST(PacketTypes, R4340_PKT_01_RequestCarriesApplicationDataBothWays) {
  WirePeer client({.request_data = "hello"});
  client.Connect();
  EXPECT_THAT(client.Take(), ElementsAre(IsRequest(kIss, HasPayload("hello"))));

  WirePeer server;
  server.Listen();
  server.Inject(Request(server.Next()).Payload("hello"));
  const SentPacket response = server.TakeOne();
  server.Inject(Ack(server.Next(), response.seq).With(ConfirmsFor(response)));
  EXPECT_THAT(server.Read(), ElementsAre("hello"));
}

TEST(PacketTypes, R4340_PKT_02_ResponseEchoesServiceCodeAndRequest) {
  WirePeer peer({.service_codes = {ServiceCode(0x6664707A)}});
  peer.Listen();
  peer.Inject(Request(5000).Service(0x6664707A));
  peer.Inject(Request(5003).Service(0x6664707A));
  const auto sent = peer.Take();
  EXPECT_THAT(sent, ElementsAre(IsResponse(1000u, 5000u), IsResponse(1001u, 5003u)));
  for (const SentPacket& packet : sent) EXPECT_EQ(packet.service_code, 0x6664707Au);
}

TEST(PacketTypes, R4340_PKT_03_EmptyDataIsADatagramAndEmptyRequestIsNone) {
  WirePeer server;
  server.OpenAsServer();
  EXPECT_THAT(server.Read(), IsEmpty());
  server.Inject(Data(server.Next(), ""));
  server.Inject(DataAck(server.Next(), server.gss(), ""));
  EXPECT_THAT(server.Read(), ElementsAre("", ""));

  WirePeer client;
  client.OpenAsClient();
  EXPECT_THAT(client.Read(), IsEmpty());
}

TEST(PacketTypes, R4340_PKT_04_PKT_11_PaddingOfOtherTypesIsNotDelivered) {
  WirePeer peer;
  peer.OpenAsServer();
  const std::string padding(1400, 'p');
  peer.Inject(Ack(peer.Next(), peer.gss()).Payload(padding));
  peer.Inject(SyncAck(peer.Next(), peer.gss()).Payload(padding));
  EXPECT_THAT(peer.Take(), IsEmpty());
  const std::uint64_t seq = peer.Next();
  peer.Inject(Sync(seq, peer.gss()).Payload(padding));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, seq)));
  EXPECT_THAT(peer.Read(), IsEmpty());
}

TEST(PacketTypes, R4340_PKT_05_AClientNeverSendsCloseReq) {
  WirePeer peer;
  peer.OpenAsClient();
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsClose(_, 5001u)));
}

TEST(PacketTypes, R4340_PKT_06_DataOnCloseAndCloseReqIsIgnored) {
  WirePeer server;
  server.OpenAsServer();
  server.Inject(Close(5002, server.gss()).Payload("ignored"));
  EXPECT_THAT(server.Take(), ElementsAre(IsReset(_, 5002u, 1)));
  EXPECT_THAT(server.Read(), IsEmpty());

  WirePeer client;
  client.OpenAsClient();
  client.Inject(CloseReq(5002, client.gss()).Payload("ignored"));
  EXPECT_THAT(client.Take(), ElementsAre(IsClose(_, 5002u)));
  EXPECT_THAT(client.Read(), IsEmpty());
}

TEST(PacketTypes, R4340_PKT_07_ResetWithTextOfAnyKindEndsTheConnection) {
  for (const char* text : {"no such thing", "\xC3\x28\xFF\xFE", ""}) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Reset(5002, peer.gss(), 2).Payload(text));
    EXPECT_EQ(peer.state(), State::kTimeWait);
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_THAT(peer.Read(), IsEmpty());
  }
}

TEST(PacketTypes, R4340_PKT_08_XFER_02_SyncIsAnsweredAtOnce) {
  for (const Role role : {Role::kServer, Role::kClient}) {
    WirePeer peer;
    role == Role::kServer ? peer.OpenAsServer() : peer.OpenAsClient();
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t seq = peer.Next();
      peer.Inject(Sync(seq, peer.gss()));
      EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, seq)));
      // A copy that the network made is a valid Sync as well.
      peer.Inject(Sync(seq, peer.gss()));
      EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, seq)));
    }
  }
}

// A Close must acknowledge GAR at least: whether one that acknowledges an old packet is valid tells
// what GAR is.
TEST(PacketTypes, R4340_PKT_09_SEQ_02_SyncDoesNotRaiseGarButSyncAckDoes) {
  for (const PacketType type : {PacketType::kSync, PacketType::kSyncAck}) {
    WirePeer peer;
    peer.OpenAsServer();
    ASSERT_TRUE(peer.Send("x").ok());
    const std::uint64_t old = kIss;
    ASSERT_GT(peer.gss(), old);
    peer.Inject(Make(type, 5002, peer.gss()));
    peer.Take();
    peer.Inject(Close(5003, old));
    if (type == PacketType::kSync) {
      EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5003u, 1)));
    } else {
      EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5003u)));
    }
  }
}

TEST(PacketTypes, R4340_PKT_09_SyncDoesNotSettleAFeature) {
  WirePeerConfig config;
  config.options.sequence_window = 200;
  WirePeer peer(config);
  peer.Listen();
  peer.Inject(Request(5000));
  peer.Inject(Sync(5001, kIss));
  EXPECT_EQ(peer.state(), State::kOpen);
  peer.Take();
  peer.Inject(Sync(5002, peer.gss()));
  EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, true), 100u);
  peer.Take();
  peer.Advance(seconds(3));
  EXPECT_THAT(peer.Take(),
              Contains(HasOption(OptionType::kChangeL, ElementsAre(3, 0, 0, 0, 0, 0, 200))));
}

TEST(PacketTypes, R4340_PKT_10_SyncAckNamesItsOwnSync) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Sync(5004, peer.gss()));
  peer.Inject(Sync(5003, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, 5004u), IsSyncAck(_, 5003u)));
}

}  // namespace
}  // namespace dccp::peer
