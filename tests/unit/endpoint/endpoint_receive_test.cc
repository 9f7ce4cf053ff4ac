// Steps 1 to 3 of RFC 4340 §8.5: what an endpoint does with packets before a connection sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kNow = TimePoint(seconds(100));
constexpr std::array kAllTypes = {
    PacketType::kRequest, PacketType::kResponse, PacketType::kData,  PacketType::kAck,
    PacketType::kDataAck, PacketType::kCloseReq, PacketType::kClose, PacketType::kReset,
    PacketType::kSync,    PacketType::kSyncAck};

// The reason of the one Reset in `sent`, or an empty one.
std::optional<ResetReason> OnlyReset(const std::vector<SentDatagram>& sent) {
  if (sent.size() != 1) return std::nullopt;
  const PacketView view = sent[0].view();
  if (view.type() != PacketType::kReset) return std::nullopt;
  return view.reset_reason();
}

class SilentDrop : public ::testing::Test {
 protected:
  // A good native packet to a port without listener; unspoilt it draws a Reset.
  static Bytes Good() { return MakePacket(Fields(PacketType::kAck), NativePath(), 8); }
  void Fix(Bytes& bytes) {
    StoreChecksum(bytes, 0);
    StoreChecksum(bytes,
                  ComputeChecksum(NativePath().remote, NativePath().local, bytes, bytes.size()));
  }
  void ExpectDrop(const Bytes& bytes, DropReason reason) {
    host_.Receive(bytes, NativePath(), kNow);
    EXPECT_EQ(host_.dropped(reason), 1u) << ToString(reason);
    EXPECT_THAT(host_.Sent(kNow), IsEmpty()) << ToString(reason);
  }
  TestHost host_{Encapsulation::kNative};
};

TEST_F(SilentDrop, TheGoodPacketIsAnswered) {
  host_.Receive(Good(), NativePath(), kNow);
  EXPECT_TRUE(OnlyReset(host_.Sent(kNow)).has_value());
}
TEST_F(SilentDrop, R4340_EVT_01_ShorterThan12Bytes) {
  const Bytes good = Good();
  for (std::size_t n = 0; n < 12; ++n) host_.Receive(std::span(good).first(n), NativePath(), kNow);
  EXPECT_EQ(host_.dropped(DropReason::kTooShort), 12u);
  EXPECT_THAT(host_.Sent(kNow), IsEmpty());
}
TEST_F(SilentDrop, R4340_EVT_01_UnknownType) {
  for (unsigned type = 10; type < 16; ++type) {
    Bytes bytes = Good();
    bytes[8] = static_cast<std::byte>((type << 1) | 1);
    Fix(bytes);
    host_.Receive(bytes, NativePath(), kNow);
  }
  EXPECT_EQ(host_.dropped(DropReason::kUnknownType), 6u);
  EXPECT_THAT(host_.Sent(kNow), IsEmpty());
}
TEST_F(SilentDrop, R4340_EVT_01_DataOffsetTooSmallForTheType) {
  Bytes bytes = Good();
  bytes[4] = std::byte{5};
  Fix(bytes);
  ExpectDrop(bytes, DropReason::kBadDataOffset);
}
TEST_F(SilentDrop, R4340_EVT_01_DataOffsetBeyondThePacket) {
  Bytes bytes = Good();
  bytes[4] = std::byte{9};
  Fix(bytes);
  ExpectDrop(bytes, DropReason::kBadDataOffset);
}
TEST_F(SilentDrop, R4340_EVT_01_ShortNumbersOnATypeThatMayNotHaveThem) {
  Bytes bytes = Good();
  bytes[8] = static_cast<std::byte>(static_cast<unsigned>(PacketType::kSync) << 1);
  Fix(bytes);
  ExpectDrop(bytes, DropReason::kShortSeqnoNotAllowedForType);
}
TEST_F(SilentDrop, R4340_EVT_01_R4340_CSM_03_EveryFlippedBitOfTheHeader) {
  for (std::size_t bit = 0; bit < Good().size() * 8; ++bit) {
    Bytes bytes = Good();
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    host_.Receive(bytes, NativePath(), kNow);
  }
  EXPECT_THAT(host_.Sent(kNow), IsEmpty());
  EXPECT_GT(host_.dropped(DropReason::kBadChecksum), 200u);
}
TEST_F(SilentDrop, R4340_CSM_04_OnlyCoveredBytesMatter) {
  HeaderFields fields = Fields(PacketType::kAck);
  fields.cscov = 2;
  Bytes bytes = MakePacket(fields, NativePath(), 8);
  StoreChecksum(bytes, 0);
  StoreChecksum(bytes,
                ComputeChecksum(NativePath().remote, NativePath().local, bytes, bytes.size() - 4));
  bytes.back() ^= std::byte{1};
  host_.Receive(bytes, NativePath(), kNow);
  EXPECT_THAT(host_.Sent(kNow), SizeIs(1));
  bytes[bytes.size() - 5] ^= std::byte{1};
  ExpectDrop(bytes, DropReason::kBadChecksum);
}
TEST_F(SilentDrop, R4340_EVT_01_R4340_CSM_05_CoverageBeyondThePayload) {
  HeaderFields fields = Fields(PacketType::kAck);
  fields.cscov = 3;  // needs 8 bytes
  host_.Receive(MakePacket(fields, NativePath(), 8), NativePath(), kNow);
  EXPECT_THAT(host_.Sent(kNow), SizeIs(1));
  ExpectDrop(MakePacket(fields, NativePath(), 7), DropReason::kBadChecksumCoverage);
}

TEST(EndpointReceive, R6773_CSM_01_ChecksumIsIgnoredInUdp) {
  TestHost host;
  Bytes bytes = MakePacket(Fields(PacketType::kAck), UdpPath());
  for (const std::uint16_t checksum : std::array<std::uint16_t, 3>{0, 1, 0xFFFF}) {
    StoreChecksum(bytes, checksum);
    host.Receive(bytes, UdpPath(), kNow);
    EXPECT_THAT(host.Sent(kNow), SizeIs(1));
  }
}

TEST(EndpointReceive, R6773_CSM_03_R6773_CSM_04_LengthsInUdp) {
  TestHost host;
  const Bytes data = MakePacket(Fields(PacketType::kAck), UdpPath());
  host.Receive(std::span(data).first(11), UdpPath(), kNow);
  EXPECT_EQ(host.dropped(DropReason::kUdpLength), 1u);
  host.Receive(std::span(data).first(20), UdpPath(), kNow);
  EXPECT_EQ(host.dropped(DropReason::kBadDataOffset), 1u);
  EXPECT_THAT(host.Sent(kNow), IsEmpty());
}

TEST(EndpointReceive, R4340_EVT_02_R4340_CON_06_R4340_RST_08_ClosedPort) {
  for (const PacketType type : kAllTypes) {
    TestHost host;
    host.Receive(MakePacket(Fields(type), UdpPath()), UdpPath(), kNow);
    const std::vector<SentDatagram> sent = host.Sent(kNow);
    EXPECT_EQ(host.dropped(DropReason::kNoConnection), 1u);
    if (type == PacketType::kReset) {
      EXPECT_THAT(sent, IsEmpty());
      continue;
    }
    ASSERT_TRUE(OnlyReset(sent).has_value()) << ToString(type);
    EXPECT_EQ(OnlyReset(sent)->code, type == PacketType::kRequest ? ResetCode::kConnectionRefused
                                                                  : ResetCode::kNoConnection);
    EXPECT_EQ(sent[0].path, UdpPath());
    EXPECT_EQ(host.endpoint->counters().resets_without_connection, 1u);
  }
}

TEST(EndpointReceive, R4340_EVT_03_ListenerAnswersOnlyRequests) {
  for (const PacketType type : kAllTypes) {
    TestHost host;
    ListenParams params;
    params.port = 5001;
    ASSERT_TRUE(host.endpoint->Listen(params).ok());
    host.Receive(MakePacket(Fields(type), UdpPath()), UdpPath(), kNow);
    const std::vector<SentDatagram> sent = host.Sent(kNow);
    if (type == PacketType::kReset) {
      EXPECT_THAT(sent, IsEmpty());
    } else if (type == PacketType::kRequest) {
      ASSERT_THAT(sent, SizeIs(1));
      EXPECT_EQ(sent[0].view().type(), PacketType::kResponse);
    } else {
      ASSERT_TRUE(OnlyReset(sent).has_value()) << ToString(type);
      EXPECT_EQ(OnlyReset(sent)->code, ResetCode::kNoConnection);
    }
  }
}

TEST(EndpointReceive, Bug_A29_R4340_CON_05_R4340_SVC_02_WrongServiceCode) {
  TestHost host;
  ListenParams params;
  params.port = 5001;
  params.service_codes = {ServiceCode(1), ServiceCode(2)};
  ASSERT_TRUE(host.endpoint->Listen(params).ok());
  for (const std::uint32_t code : {3u, 0u, 0xFFFFFFFFu}) {
    HeaderFields fields = Fields(PacketType::kRequest);
    fields.service_code = ServiceCode(code);
    host.Receive(MakePacket(fields, UdpPath()), UdpPath(), kNow);
    EXPECT_EQ(OnlyReset(host.Sent(kNow)), (ResetReason{ResetCode::kBadServiceCode, {0, 0, 0}}));
  }
  EXPECT_EQ(host.endpoint->counters().connections_refused, 3u);
  EXPECT_EQ(host.endpoint->ActiveConnections(), 0u);
}

TEST(EndpointReceive, Bug_A19_MulticastAndBroadcastDrawNoAnswer) {
  TestHost host;
  ListenParams params;
  params.port = 5001;
  ASSERT_TRUE(host.endpoint->Listen(params).ok());
  std::vector<Path> paths(6, UdpPath());
  paths[0].local = V4(224, 0, 0, 1);
  paths[1].local = V4(255, 255, 255, 255);
  paths[2].remote = V4(239, 1, 2, 3);
  paths[3].remote = V4(0, 0, 0, 0);
  paths[4].local.family = paths[4].remote.family = IpFamily::kV6;
  paths[4].local.bytes = {0xFF, 0x02};
  paths[5].remote_udp_port = 0;
  for (const Path& path : paths) {
    for (const PacketType type : kAllTypes)
      host.Receive(MakePacket(Fields(type), path), path, kNow);
  }
  EXPECT_THAT(host.Sent(kNow), IsEmpty());
  EXPECT_EQ(host.dropped(DropReason::kMartian), paths.size() * kAllTypes.size());
}

TEST(EndpointReceive, PortZeroBelongsToNobody) {
  TestHost host;
  HeaderFields fields = Fields(PacketType::kAck);
  fields.source_port = 0;
  host.Receive(MakePacket(fields, UdpPath()), UdpPath(), kNow);
  fields = Fields(PacketType::kAck);
  fields.destination_port = 0;
  host.Receive(MakePacket(fields, UdpPath()), UdpPath(), kNow);
  EXPECT_THAT(host.Sent(kNow), IsEmpty());
  EXPECT_EQ(host.dropped(DropReason::kMartian), 2u);
}

TEST(EndpointReceive, R4340_RST_11_AFloodIsNotReflectedInFull) {
  TestHost host(Encapsulation::kUdp, 1, [](EndpointConfig& c) { c.refusals_per_second = 64; });
  const Bytes request = MakePacket(Fields(PacketType::kRequest), UdpPath());
  std::size_t answers = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    const TimePoint now = kNow + std::chrono::milliseconds(ms);
    for (int i = 0; i < 10; ++i) host.Receive(request, UdpPath(), now);
    answers += host.Sent(now).size();
  }
  EXPECT_GE(answers, 64u);
  EXPECT_LE(answers, 64u + 8u);
  EXPECT_EQ(host.dropped(DropReason::kRateLimited), 10'000 - answers);
}

TEST(EndpointReceive, GroRunIsTakenApart) {
  TestHost host;
  Bytes run;
  for (int i = 0; i < 3; ++i) {
    const Bytes one =
        MakePacket(Fields(PacketType::kAck, 1000, 100u + static_cast<unsigned>(i)), UdpPath(), 8);
    run.insert(run.end(), one.begin(), one.end() - (i == 2 ? 5 : 0));
  }
  InboundDatagram datagram;
  datagram.bytes = run;
  datagram.segment_bytes = 32;
  datagram.path = UdpPath();
  host.endpoint->Receive(std::span(&datagram, 1), kNow);
  EXPECT_EQ(host.endpoint->counters().packets_received, 3u);
  const std::vector<SentDatagram> sent = host.Sent(kNow);
  ASSERT_THAT(sent, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent[i].view().seq(), SeqNo(101 + i));
}

// One entry; the second Request is answered from it.
TEST(EndpointReceive, Bug_A24_TwoEqualRequestsMakeOneConnection) {
  TestHost host;
  ListenParams params;
  params.port = 5001;
  ASSERT_TRUE(host.endpoint->Listen(params).ok());
  host.Receive(MakePacket(Fields(PacketType::kRequest, 1000), UdpPath()), UdpPath(), kNow);
  host.Receive(MakePacket(Fields(PacketType::kRequest, 1001), UdpPath()), UdpPath(), kNow);
  EXPECT_EQ(host.endpoint->ActiveConnections(), 1u);
  const std::vector<SentDatagram> sent = host.Sent(kNow);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[1].view().seq(), sent[0].view().seq() + 1);
}

TEST(EndpointReceive, R6773_DMX_01_SamePortsBehindOneNatAreTwoConnections) {
  TestHost host;
  ListenParams params;
  params.port = 5001;
  ASSERT_TRUE(host.endpoint->Listen(params).ok());
  Path other = UdpPath();
  other.remote_udp_port = 40001;
  const Bytes request = MakePacket(Fields(PacketType::kRequest), UdpPath());
  host.Receive(request, UdpPath(), kNow);
  host.Receive(request, other, kNow);
  EXPECT_EQ(host.endpoint->ActiveConnections(), 2u);
  const std::vector<SentDatagram> sent = host.Sent(kNow);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].path, UdpPath());
  EXPECT_EQ(sent[1].path, other);
}

// Records what the endpoint tells a sink.
class CountingSink final : public TraceSink {
 public:
  void OnPacket(const PacketEvent& event) override {
    (event.direction == Direction::kSent ? sent : received).push_back(event.conn);
  }
  void OnDrop(const DropEvent& event) override { drops.push_back(event.reason); }
  std::vector<ConnId> sent;
  std::vector<ConnId> received;
  std::vector<DropReason> drops;
};

TEST(EndpointReceive, TracesPacketsOfConnectionsDropsAndRefusals) {
  CountingSink sink;
  TestHost host(Encapsulation::kUdp, 1, [&](EndpointConfig& c) { c.trace = &sink; });
  ListenParams params;
  params.port = 5001;
  ASSERT_TRUE(host.endpoint->Listen(params).ok());
  host.Receive(MakePacket(Fields(PacketType::kRequest), UdpPath()), UdpPath(), kNow);
  ASSERT_THAT(sink.received, SizeIs(1));
  EXPECT_NE(sink.received[0], ConnId());
  ASSERT_THAT(sink.sent, SizeIs(1));
  EXPECT_EQ(sink.sent[0], sink.received[0]);
  HeaderFields stray = Fields(PacketType::kAck);
  stray.destination_port = 9;
  host.Receive(MakePacket(stray, UdpPath()), UdpPath(), kNow);
  EXPECT_THAT(sink.drops, ::testing::ElementsAre(DropReason::kNoConnection));
  ASSERT_THAT(sink.sent, SizeIs(2));
  EXPECT_EQ(sink.sent[1], ConnId());
}

TEST(EndpointReceive, RandomBytesAreCountedDrops) {
  TestHost host(Encapsulation::kNative);
  TestRandom random(3);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random.NextUint64() % 100);
    random.Fill(bytes);
    host.Receive(bytes, NativePath(), kNow);
  }
  std::uint64_t dropped = 0;
  for (const std::uint64_t n : host.endpoint->counters().dropped) dropped += n;
  EXPECT_EQ(dropped, 20'000u);
  EXPECT_EQ(host.endpoint->ActiveConnections(), 0u);
}

}  // namespace
}  // namespace dccp
