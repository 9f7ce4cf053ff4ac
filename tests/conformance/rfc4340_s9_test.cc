// RFC 4340 §9: checksums and partial coverage, over IP protocol 33.

#include <gtest/gtest.h>

#include <span>

#include "stack/wire/checksum.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/packet_writer.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

WirePeerConfig Native(IpFamily family = IpFamily::kV4) {
  WirePeerConfig config;
  config.encapsulation = Encapsulation::kNative;
  config.family = family;
  return config;
}

// The same for an application that takes data which the checksum covers in part.
WirePeerConfig Partial(IpFamily family = IpFamily::kV4) {
  WirePeerConfig config = Native(family);
  config.options.min_checksum_coverage = 1;
  return config;
}

// Minimum Checksum Coverage of the endpoint becomes `least`.
void AllowCoverage(WirePeer& peer, std::uint8_t least) {
  peer.Inject(Ack(peer.Next(), peer.gss()).With({34, 4, 8, least}));
  peer.Advance(seconds(1));
  ASSERT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, true), least);
  peer.Take();
}

Octets Crc(std::string_view data) {
  const std::uint32_t crc = Crc32c(std::as_bytes(std::span(data)));
  Octets out = {44, 6};
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(crc >> shift));
  return out;
}

// The acknowledgement that two packets of data draw.
SentPacket AckOf(WirePeer& peer) {
  peer.Inject(Data(peer.Next(), "filler"));
  peer.Advance(milliseconds(200));
  const auto sent = peer.Take();
  EXPECT_FALSE(sent.empty());
  return sent.empty() ? SentPacket() : sent.back();
}

TEST(HeaderChecksum, R4340_CSM_01_CSM_02_EverythingSentIsGood) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    WirePeer peer(Native(family));
    peer.Listen();
    peer.Inject(Request(5000));
    const SentPacket response = peer.TakeOne();
    EXPECT_TRUE(response.checksum_good);
    peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
    peer.Inject(Sync(5002, response.seq));
    ASSERT_TRUE(peer.Send("odd").ok());
    ASSERT_TRUE(peer.Send("").ok());
    ASSERT_TRUE(peer.Send(std::string(1000, '\xFF')).ok());
    peer.Inject(Close(5003, peer.gss()));
    peer.Inject(Ack(5004, 7));
    const auto sent = peer.Take();
    EXPECT_GE(sent.size(), 6u);
    for (const SentPacket& packet : sent)
      EXPECT_TRUE(packet.checksum_good) << ::testing::PrintToString(packet);
  }
}

TEST(HeaderChecksum, R4340_CSM_03_OPT_04_EveryFlippedBitIsNoticed) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    WirePeer peer(Native(family));
    peer.OpenAsServer();
    const Bytes good =
        peer.BuildPacket(DataAck(5002, peer.gss(), "payload").With({41, 6, 0, 0, 0, 9}));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Bytes bytes = good;
      bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      peer.InjectRaw(bytes);
      EXPECT_THAT(peer.Take(), IsEmpty()) << bit;
    }
    EXPECT_EQ(peer.DroppedInAll(), good.size() * 8);
    EXPECT_EQ(peer.Info().counters.sequence_invalid, 0u);
    EXPECT_THAT(peer.Read(), IsEmpty());
  }
}

TEST(HeaderChecksum, R4340_CSM_03_ZeroIsAChecksumLikeAnyOther) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  Bytes bytes = peer.BuildPacket(Data(5002, "payload!"));
  StoreChecksum(bytes, 0);
  peer.InjectRaw(bytes);
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kBadChecksum), 1u);
  // The last two bytes are chosen so that the sum comes out as 0.
  bytes[bytes.size() - 2] = bytes[bytes.size() - 1] = std::byte{0};
  const std::uint16_t rest =
      ComputeChecksum(peer.path().remote, peer.path().local, bytes, bytes.size());
  bytes[bytes.size() - 2] = static_cast<std::byte>(rest >> 8);
  bytes[bytes.size() - 1] = static_cast<std::byte>(rest & 0xFF);
  peer.InjectRaw(bytes);
  EXPECT_EQ(peer.Read().size(), 1u);
}

TEST(Coverage, R4340_CSM_04_CSM_02_BytesBeyondTheCoverageMayChange) {
  for (std::uint8_t cscov = 1; cscov <= 4; ++cscov) {
    WirePeer peer(Partial());
    peer.OpenAsServer();
    AllowCoverage(peer, 1);
    const std::size_t covered = std::size_t{cscov} * 4 - 4;
    const PacketSpec spec = Data(peer.Next(), "0123456789abcdef").Coverage(cscov);
    Bytes bytes = peer.BuildPacket(spec);
    const std::size_t payload = bytes.size() - 16;
    if (covered > 0) {
      Bytes inside = bytes;
      inside[payload + covered - 1] ^= std::byte{4};
      peer.InjectRaw(inside);
      EXPECT_THAT(peer.Read(), IsEmpty()) << unsigned{cscov};
    }
    if (covered < 16) bytes[payload + covered] ^= std::byte{4};
    peer.InjectRaw(bytes);
    EXPECT_EQ(peer.Read().size(), 1u) << unsigned{cscov};
  }
}

TEST(Coverage, R4340_OPT_04_OptionsAreAlwaysCovered) {
  WirePeer peer(Partial());
  peer.OpenAsServer();
  AllowCoverage(peer, 1);
  Bytes bytes = peer.BuildPacket(
      DataAck(peer.Next(), peer.gss(), "payload").With({41, 6, 0, 0, 0, 9}).Coverage(1));
  bytes[29] ^= std::byte{1};
  peer.InjectRaw(bytes);
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kBadChecksum), 1u);
}

TEST(Coverage, R4340_CSM_05_CoverageBeyondTheDataIsIgnored) {
  WirePeer peer(Partial());
  peer.OpenAsServer();
  AllowCoverage(peer, 1);
  peer.Inject(Data(peer.PeekNext(), "7 bytes").Coverage(3));
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kBadChecksumCoverage), 1u);
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Inject(Data(peer.PeekNext(), "8 bytes!").Coverage(3));
  EXPECT_THAT(peer.Read(), ElementsAre("8 bytes!"));
}

TEST(Coverage, R4340_CSM_06_DataIsSentWithFullCoverage) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("data").ok());
  EXPECT_EQ(peer.TakeOne().cscov, 0);
}

TEST(Coverage, R4340_CSM_07_TooLittleCoverageCostsTheDataOnly) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  const std::uint64_t seq = peer.Next();
  peer.Inject(Data(seq, "partial!").Coverage(1));
  const SentPacket ack = AckOf(peer);
  // Received, by the Ack Vector; dropped for Protocol Constraints, by Data Dropped.
  EXPECT_THAT(ack, IsAck(_, seq + 1, HasOption(OptionType::kAckVectorNonce0, ElementsAre(2)),
                         HasOption(OptionType::kDataDropped, ElementsAre(0, 0x80))));
  EXPECT_THAT(peer.Read(), ElementsAre("filler"));
}

TEST(Coverage, R4340_FT_15_CSM_07_MinimumCoverageTable) {
  for (std::uint8_t least = 0; least <= 15; ++least) {
    WirePeer peer(least == 0 ? Native() : Partial());
    peer.OpenAsServer();
    if (least > 0) AllowCoverage(peer, least);
    for (std::uint8_t cscov = 0; cscov <= 15; ++cscov) {
      peer.Inject(Data(peer.Next(), std::string(56, 'x')).Coverage(cscov));
      const bool accepted = cscov == 0 || (least > 0 && cscov >= least);
      EXPECT_EQ(peer.Read().size(), accepted ? 1u : 0u)
          << "least " << unsigned{least} << " cscov " << unsigned{cscov};
    }
    EXPECT_EQ(peer.state(), State::kOpen);
  }
}

TEST(DataChecksum, R4340_CSM_09_CSM_11_FT_16_CorruptDataIsDroppedAndReported) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({1, 34, 4, 9, 1}));
  peer.Advance(seconds(1));
  ASSERT_EQ(peer.Feature(FeatureNumber::kCheckDataChecksum, true), 1u);
  peer.Take();
  peer.Inject(Data(peer.Next(), "good").With(Crc("good")));
  EXPECT_THAT(peer.Read(), ElementsAre("good"));
  const std::uint64_t seq = peer.Next();
  peer.Inject(Data(seq, "evil").With(Crc("good")));
  EXPECT_THAT(peer.Read(), IsEmpty());
  const SentPacket ack = AckOf(peer);
  EXPECT_EQ(ack.ack, seq + 1);
  // Drop Code 3 for the packet before the newest, and State 0 for all.
  EXPECT_THAT(ack, HasOption(OptionType::kDataDropped, ElementsAre(0, 0xB0)));
  EXPECT_THAT(ack, HasOption(OptionType::kAckVectorNonce0));
  EXPECT_EQ(ack.Find(OptionType::kAckVectorNonce0)->data.size(), 1u);
  EXPECT_EQ(ack.Find(OptionType::kAckVectorNonce0)->data[0] >> 6, 0);
}

TEST(DataChecksum, R4340_CSM_12_CorruptPaddingIsReportedToo) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  const std::uint64_t seq = peer.Next();
  peer.Inject(Ack(seq, peer.gss()).Payload("evil").With(Crc("good")));
  const SentPacket ack = AckOf(peer);
  EXPECT_EQ(ack.ack, seq + 1);
  EXPECT_THAT(ack, HasOption(OptionType::kDataDropped, ElementsAre(0, 0xB0)));
}

TEST(DataChecksum, R4340_CSM_13_AnOptionOfAnotherLengthIsIgnored) {
  WirePeer peer(Native());
  peer.OpenAsServer();
  peer.Inject(Data(peer.Next(), "data").With({44, 4, 1, 1}));
  EXPECT_THAT(peer.Read(), ElementsAre("data"));
}

}  // namespace
}  // namespace dccp::peer
