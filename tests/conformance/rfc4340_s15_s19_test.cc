// RFC 4340 §15, §18, §19: what is unknown or experimental, port ranges, Service Codes.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

bool IsUnassignedOption(unsigned type) { return (type >= 3 && type < 32) || type > 44; }

// No harm was done: data goes through, and there was no Reset.
void ExpectAlive(WirePeer& peer) {
  EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kReset))));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Read();
  peer.Inject(Data(peer.Next(), "alive"));
  EXPECT_THAT(peer.Read(), ElementsAre("alive"));
}

TEST(Unknown, R4340_FWD_01_NoUnknownOptionIsPunished) {
  WirePeer peer;
  peer.OpenAsServer();
  for (unsigned type = 0; type < 256; ++type) {
    if (!IsUnassignedOption(type)) continue;
    const auto byte = static_cast<std::uint8_t>(type);
    const Octets option = type < 32 ? Octets{byte} : Octets{byte, 4, 0xAA, 0xBB};
    peer.Inject(Ack(peer.Next(), peer.gss()).With(option));
    peer.Inject(Data(peer.Next(), "x").With(option));
    peer.Inject(DataAck(peer.Next(), peer.gss(), "x").With(option));
    peer.Inject(Sync(peer.Next(), peer.gss()).With(option));
    ASSERT_EQ(peer.state(), State::kOpen) << type;
  }
  ExpectAlive(peer);
}

TEST(Unknown, R4340_FWD_01_NoUnknownFeatureIsPunished) {
  WirePeer peer;
  peer.OpenAsServer();
  for (unsigned feature = 0; feature < 256; ++feature) {
    if (feature >= 1 && feature <= 9) continue;
    const auto number = static_cast<std::uint8_t>(feature);
    for (const std::uint8_t type : Octets{32, 33, 34, 35})
      peer.Inject(Ack(peer.Next(), peer.gss()).With({type, 4, number, 1}));
    peer.Advance(milliseconds(300));
    ASSERT_EQ(peer.state(), State::kOpen) << feature;
  }
  ExpectAlive(peer);
}

TEST(Unknown, R4340_FWD_01_OnlyMandatoryMayReset) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({1, 100, 4, 0xAA, 0xBB}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, 100, 0xAA, 0xBB)));
}

TEST(Experimental, R4340_IANA_01_CodePointsForExperimentsMeanNothingToUs) {
  WirePeer peer;
  peer.OpenAsServer();
  // Packet type 14.
  Bytes packet = peer.BuildPacket(Data(peer.PeekNext(), "x"));
  packet[8] = std::byte{14 << 1 | 1};
  peer.InjectRaw(packet);
  EXPECT_EQ(peer.Dropped(DropReason::kUnknownType), 1u);
  EXPECT_THAT(peer.Take(), IsEmpty());
  // Features 120-126: an empty Confirm.
  for (std::uint8_t feature = 120; feature <= 126; ++feature) {
    peer.Inject(Ack(peer.Next(), peer.gss()).With({32, 4, feature, 1}));
    peer.Advance(milliseconds(300));
    EXPECT_THAT(peer.Take(), Contains(HasOption(OptionType::kConfirmR, ElementsAre(feature))));
  }
  // Options 31 and 120-126.
  for (const std::uint8_t option : Octets{120, 121, 122, 123, 124, 125, 126})
    peer.Inject(Ack(peer.Next(), peer.gss()).With({31, option, 3, 0}));
  ExpectAlive(peer);
  // CCIDs 248-254: not among those that we have.
  WirePeer server;
  server.Listen();
  server.Inject(Request(5000).With({32, 10, 1, 248, 249, 250, 251, 252, 253, 254}));
  EXPECT_THAT(server.TakeOne(), HasOption(OptionType::kConfirmR, ElementsAre(1, 2, 2)));
  // Reset Codes 120-126: as Unspecified.
  for (unsigned code = 120; code <= 126; ++code) {
    WirePeer client;
    client.ClientInRequest();
    client.Inject(Reset(5000, client.gss(), code));
    EXPECT_EQ(client.state(), State::kTimeWait);
    EXPECT_FALSE(client.Info().close.clean);
  }
}

// A listener for the discard service: whatever comes is dropped unread.
class Discard : public ::testing::Test {
 protected:
  static constexpr std::uint16_t kDiscardPort = 9;

  void SetUp() override {
    ListenParams params;
    params.port = kDiscardPort;
    params.service_codes = {ServiceCode::Parse("SC:DISC").value()};
    ASSERT_TRUE(peer_.endpoint().Listen(params).ok());
  }
  void Inject(const PacketSpec& spec) {
    peer_.InjectRaw(Build(spec, WirePeer::kPeerPort, kDiscardPort, nullptr));
  }

  WirePeer peer_;
};

TEST_F(Discard, R4340_SVC_04_IANA_02_PortNineTakesDiscAndNothingElse) {
  constexpr std::uint32_t kDisc = 1145656131;
  ASSERT_EQ(ServiceCode::Parse("SC:DISC")->value(), kDisc);
  Inject(Request(5000).Service(kDisc + 1));
  EXPECT_THAT(peer_.Take(), ElementsAre(IsReset(_, 5000u, 8)));

  Inject(Request(6000).Service(kDisc));
  const SentPacket response = peer_.TakeOne();
  EXPECT_EQ(response.type, PacketType::kResponse);
  EXPECT_EQ(response.service_code, kDisc);
  EXPECT_EQ(response.source_port, kDiscardPort);
  Inject(Ack(6001, response.seq).With(ConfirmsFor(response)));
  ASSERT_TRUE(peer_.endpoint().StopReading(peer_.conn()).ok());
  peer_.Take();
  Inject(DataAck(6002, peer_.gss(), "to nowhere"));
  peer_.Advance(milliseconds(250));
  // Acknowledged, and said to have been dropped: nobody listens.
  EXPECT_THAT(peer_.Take(), Contains(HasOption(OptionType::kDataDropped, ElementsAre(0x90))));
  EXPECT_THAT(peer_.Read(), IsEmpty());
}

TEST(ServiceCodes, R4340_SVC_04_AQuestionMarkBeginsThePrivateOnes) {
  for (const auto* text : {"SC:?", "SC:?abc", "SC:????", "SC:?zzz"}) {
    const std::uint32_t value = ServiceCode::Parse(text)->value();
    EXPECT_GE(value, 1056964608u) << text;
    EXPECT_LE(value, 1073741823u) << text;
  }
  EXPECT_LT(ServiceCode::Parse("SC:9zzz")->value(), 1056964608u);
  EXPECT_GT(ServiceCode::Parse("SC:@")->value(), 1073741823u);
}

TEST(Ports, R4340_HDR_06_IANA_02_AnyPortMayBeListenedOn) {
  // The ranges bind registries and the choice of a client's port; who may use a low one is for the
  // host to say, and an endpoint has no privileges of its own.
  for (const std::uint16_t port :
       std::vector<std::uint16_t>{1, 9, 1023, 1024, 49151, 49152, 65535}) {
    WirePeer peer;
    ListenParams params;
    params.port = port;
    ASSERT_TRUE(peer.endpoint().Listen(params).ok()) << port;
    peer.InjectRaw(Build(Request(5000), WirePeer::kPeerPort, port, nullptr));
    EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(_, 5000u)));
  }
}

}  // namespace
}  // namespace dccp::peer
