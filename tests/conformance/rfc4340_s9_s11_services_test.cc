// RFC 4340 §7.6, §9, §11.6, §11.7: what an application can ask for and learn about its data.

#include <gtest/gtest.h>

#include "stack/wire/crc32c.h"
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
using ::testing::IsEmpty;
using ::testing::Not;

constexpr OptionType kSlow = OptionType::kSlowReceiver;
constexpr OptionType kDropped = OptionType::kDataDropped;

auto HasCoverage(unsigned n) { return Field("cscov", &SentPacket::cscov, n); }
auto IsShort(bool yes) { return Field("extended", &SentPacket::extended, !yes); }

Octets CrcOption(std::string_view data) {
  const std::uint32_t crc = Crc32c(std::as_bytes(std::span(data)));
  return {static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8),
          static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 24)};
}

// One data packet of the peer and the acknowledgement that it draws.
std::vector<SentPacket> AckOfData(WirePeer& peer) {
  peer.Take();
  peer.Inject(Data(peer.Next(), "x"));
  peer.Advance(milliseconds(250));
  return peer.Take();
}

TEST(SlowReceiver, R4340_SR_02_IsRepeatedUntilTakenBack) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(AckOfData(peer), Each(Not(HasOption(kSlow))));
  ASSERT_TRUE(peer.endpoint().SetSlowReceiver(peer.conn(), true).ok());
  EXPECT_THAT(AckOfData(peer), Contains(HasOption(kSlow)));
  EXPECT_THAT(AckOfData(peer), Contains(HasOption(kSlow)));
  ASSERT_TRUE(peer.endpoint().SetSlowReceiver(peer.conn(), false).ok());
  EXPECT_THAT(AckOfData(peer), Each(Not(HasOption(kSlow))));
}

TEST(DataDropped, R4340_DD_13_DataForAnApplicationThatStoppedReading) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.endpoint().StopReading(peer.conn()).ok());
  // Code 1 for the packet that the acknowledgement names, and for each later one.
  EXPECT_THAT(AckOfData(peer), Contains(HasOption(kDropped, Octets{0x90})));
  EXPECT_THAT(AckOfData(peer), Contains(HasOption(kDropped, Octets{0x91})));
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kNotListening), 2u);
}

TEST(DataDropped, R4340_DD_13_ASenderLearnsThatNobodyListens) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("one").ok());
  peer.TakeEvents();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0, 40, 3, 0x90}));
  EXPECT_NE(peer.TakeEvents() & kEventPeerStopped, 0u);
  ASSERT_FALSE(peer.Send("two").ok());
  EXPECT_EQ(peer.Send("two").error(), Error::kBadState);
}

TEST(DataDropped, R4340_DD_12_ProtocolConstraintsPauseDataForARoundTrip) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("one").ok());
  peer.Take();
  peer.Advance(milliseconds(50));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0, 40, 3, 0x80}));
  peer.Take();
  ASSERT_TRUE(peer.Send("two").ok());
  peer.Advance(milliseconds(1));
  EXPECT_THAT(peer.Take(), Each(HasPayload("")));
  // Nor does another acknowledgement end the pause.
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0}));
  EXPECT_THAT(peer.Take(), Each(HasPayload("")));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), Contains(HasPayload("two")));
}

TEST(DataDropped, R4340_DD_07_AReportAboutWhatDidNotArriveIsIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("one").ok());
  const std::uint64_t first = peer.gss();
  ASSERT_TRUE(peer.Send("two").ok());
  peer.TakeEvents();
  // "two" arrived, "one" did not, and is said to have been dropped.
  ASSERT_EQ(peer.gss(), first + 1);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, 0, 192, 40, 4, 0, 0x90}));
  EXPECT_EQ(peer.TakeEvents() & kEventPeerStopped, 0u);
  EXPECT_TRUE(peer.Send("three").ok());
}

TEST(Coverage, R4340_CSM_06_FT_15_PartialCoverageOnlyWhereThePeerAcceptsIt) {
  WirePeerConfig config;
  config.options.checksum_coverage = 3;
  {
    WirePeer peer(config);
    peer.OpenAsServer({32, 5, 8, 2, 0});  // Change L(Minimum Checksum Coverage, 2 0)
    EXPECT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, false), 2u);
    peer.Take();
    ASSERT_TRUE(peer.Send("0123456789").ok());
    EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("0123456789"), HasCoverage(3))));
    // Coverage beyond the payload is lowered to "all".
    ASSERT_TRUE(peer.Send("0123").ok());
    EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("0123"), HasCoverage(0))));
  }
  {
    WirePeer peer(config);
    peer.OpenAsServer({32, 4, 8, 0});
    peer.Take();
    ASSERT_TRUE(peer.Send("0123456789").ok());
    EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("0123456789"), HasCoverage(0))));
  }
}

TEST(Coverage, R4340_CSM_07_FT_15_AcceptsItsMinimumAndAbove) {
  WirePeerConfig config;
  config.options.min_checksum_coverage = 2;
  WirePeer peer(config);
  peer.OpenAsServer({34, 5, 8, 3, 2});  // Change R(Minimum Checksum Coverage, 3 2)
  EXPECT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, true), 2u);
  peer.Inject(Data(peer.Next(), "0123456789").Coverage(1));
  peer.Inject(Data(peer.Next(), "abcdefghij").Coverage(2));
  peer.Inject(Data(peer.Next(), "ABCDEFGHIJ"));
  EXPECT_THAT(peer.Read(), ElementsAre("abcdefghij", "ABCDEFGHIJ"));
  EXPECT_EQ(peer.Dropped(DropReason::kTooLittleCoverage), 1u);
}

TEST(DataChecksum, R4340_CSM_09_FT_16_DataCarriesItsCrc) {
  WirePeerConfig config;
  config.options.data_checksum = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  ASSERT_TRUE(peer.Send("123456789").ok());
  EXPECT_THAT(peer.Take(),
              Contains(AllOf(HasPayload("123456789"), HasOption(OptionType::kDataChecksum,
                                                                Octets{0x83, 0x92, 0x06, 0xE3}))));
}

TEST(DataChecksum, R4340_CSM_11_CorruptDataIsDroppedOrDeliveredOnRequest) {
  Octets wrong = {44, 6};
  for (std::uint8_t b : CrcOption("other")) wrong.push_back(b);
  {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Data(peer.Next(), "damaged").With(wrong));
    peer.Advance(milliseconds(250));
    EXPECT_THAT(peer.Take(), Contains(HasOption(kDropped, Octets{0xB0})));
    EXPECT_THAT(peer.Read(), IsEmpty());
  }
  WirePeerConfig config;
  config.options.deliver_corrupt = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Data(peer.Next(), "damaged").With(wrong));
  peer.Advance(milliseconds(250));
  EXPECT_THAT(peer.Take(), Contains(HasOption(kDropped, Octets{0xF0})));
  ReceivedDatagram datagram;
  ASSERT_EQ(peer.endpoint().Read(peer.conn(), std::span(&datagram, 1)), 1u);
  EXPECT_TRUE(datagram.corrupt);
  EXPECT_EQ(datagram.bytes.size(), 7u);
}

TEST(ShortSeqnos, R4340_FT_08_SN_02_SentOnlyWithThePeersConsent) {
  WirePeerConfig config;
  config.options.short_seqnos = true;
  {
    WirePeer peer(config);
    peer.OpenAsServer({34, 5, 2, 1, 0});  // Change R(Allow Short Seqnos, 1 0)
    peer.Take();
    ASSERT_TRUE(peer.Send("short").ok());
    EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("short"), IsShort(true))));
    // Types other than Data, Ack and DataAck keep 48 bits.
    ASSERT_TRUE(peer.Close().ok());
    EXPECT_THAT(peer.Take(), Contains(AllOf(HasType(PacketType::kCloseReq), IsShort(false))));
  }
  WirePeer peer(config);
  peer.OpenAsServer({34, 4, 2, 0});
  peer.Take();
  ASSERT_TRUE(peer.Send("long").ok());
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("long"), IsShort(false))));
}

TEST(ShortSeqnos, R4340_SN_01_ReceivedNumbersAreExtended) {
  WirePeerConfig config;
  config.options.short_seqnos = true;
  WirePeer peer(config);
  peer.OpenAsServer({32, 5, 2, 1, 0});  // Change L(Allow Short Seqnos, 1 0)
  ASSERT_EQ(peer.Feature(FeatureNumber::kAllowShortSeqnos, false), 1u);
  peer.Inject(Data(peer.Next(), "a").Short());
  peer.Inject(DataAck(peer.Next(), peer.gss(), "b").Short());
  EXPECT_THAT(peer.Read(), ElementsAre("a", "b"));
}

TEST(ShortSeqnos, R4340_SEQ_21_SN_03_NotWithALargeWindow) {
  WirePeerConfig config;
  config.options.short_seqnos = true;
  config.options.sequence_window = 1u << 20;
  WirePeer peer(config);
  peer.OpenAsServer({34, 5, 2, 1, 0});
  peer.Take();
  ASSERT_EQ(peer.Feature(FeatureNumber::kAllowShortSeqnos, true), 1u);
  ASSERT_TRUE(peer.Send("long").ok());
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasPayload("long"), IsShort(false))));
}

}  // namespace
}  // namespace dccp::peer
