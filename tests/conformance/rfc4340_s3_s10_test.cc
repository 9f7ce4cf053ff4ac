// RFC 4340 §3, §5.1, §5.8, §9.3, §10: random numbers, features at both ends, defaults, CCIDs.

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <span>

#include "stack/wire/crc32c.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A Request of an endpoint whose random source has this seed.
SentPacket FirstRequest(std::uint64_t seed) {
  WirePeer peer({.seed = seed, .fixed_iss = false});
  ConnectParams params;
  params.path = peer.path();
  params.remote_port = WirePeer::kPeerPort;
  EXPECT_TRUE(peer.endpoint().Connect(params, peer.now()).ok());
  peer.Advance(Duration::zero());
  return peer.TakeOne();
}

TEST(Random, R4340_GEN_06_InitialNumbersAndPortsComeFromTheRandomSource) {
  constexpr int kRuns = 400;
  std::array<unsigned, 48> ones = {};
  std::set<std::uint16_t> ports;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const SentPacket request = FirstRequest(seed);
    for (unsigned bit = 0; bit < 48; ++bit)
      if ((request.seq >> bit) & 1) ++ones[bit];
    ports.insert(request.source_port);
  }
  // Each bit is even within five standard deviations; ports hardly meet in 16384.
  for (const unsigned n : ones) EXPECT_NEAR(n, kRuns / 2.0, 50);
  EXPECT_GT(ports.size(), 380u);
  // Nothing but that source decides them.
  EXPECT_EQ(FirstRequest(1).seq, FirstRequest(1).seq);
  EXPECT_EQ(FirstRequest(1).source_port, FirstRequest(1).source_port);
}

TEST(Random, R4340_SEQ_05_ARestartBeginsElsewhere) {
  // At the same moment of the clock, which a host without a battery may well see again.
  std::set<std::uint64_t> regions;
  for (std::uint64_t boot = 1; boot <= 64; ++boot) regions.insert(FirstRequest(boot).seq >> 32);
  EXPECT_GT(regions.size(), 60u);
}

TEST(Features, R4340_GEN_07_EachEndHasAValueOfItsOwn) {
  WirePeer peer;
  // Change L(Send NDP Count, 1): of the peer's packets only.
  peer.OpenAsServer({32, 4, 7, 1});
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, false), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 0u);
  // Change R(Send NDP Count, 1), and L to 0 again: the other way round.
  peer.Inject(Ack(peer.Next(), peer.gss()).With({34, 4, 7, 1, 32, 4, 7, 0}));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), Contains(HasOption(OptionType::kConfirmL, Contains(7))));
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, false), 0u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 1u);
}

TEST(Timers, R4340_GEN_08_TheDefaultRoundTripStandsInForAnEstimate) {
  static_assert(kDefaultRtt >= milliseconds(200));
  WirePeerConfig config;
  config.options.server_timewait = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  ASSERT_EQ(peer.Info().rtt, Duration::zero());
  // Syncs count as late only after three round trips of silence. §7.5.3
  peer.Advance(3 * kDefaultRtt);
  peer.Inject(Sync(6000, peer.gss()));
  EXPECT_THAT(peer.Take(), IsEmpty());
  // Close is repeated after two. §8.3
  ASSERT_TRUE(peer.Close().ok());
  peer.Advance(2 * kDefaultRtt);
  const auto closes = peer.Take();
  ASSERT_EQ(closes.size(), 2u);
  EXPECT_EQ(closes[1].time - closes[0].time, 2 * kDefaultRtt);
}

TEST(Options, R4340_OPT_08_OfSeveralTheLastValidOneCounts) {
  WirePeer peer;
  peer.OpenAsServer();
  // Two Timestamps, and a third that is none.
  peer.Inject(
      Sync(peer.Next(), peer.gss()).With({41, 6, 0, 0, 0, 1, 41, 6, 0, 0, 0, 2, 41, 5, 0, 0, 3}));
  EXPECT_THAT(peer.Take(),
              ElementsAre(HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, 2))));
  // Of two Data Checksums that disagree, the first in vain.
  const std::uint32_t crc = Crc32c(std::as_bytes(std::span("x", 1)));
  const auto byte = [&](int i) { return static_cast<std::uint8_t>(crc >> (8 * i)); };
  const Octets good = {44, 6, byte(0), byte(1), byte(2), byte(3)};
  const Octets bad = {44, 6, 0, 0, 0, 0};
  peer.Inject(Data(peer.Next(), "x").With(bad).With(good));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
  peer.Inject(Data(peer.Next(), "x").With(good).With(bad));
  EXPECT_THAT(peer.Read(), IsEmpty());
}

TEST(DataChecksum, R4340_CSM_10_TheHeaderChecksumCoversItsOption) {
  for (const std::uint8_t coverage : Octets{0, 1}) {
    WirePeerConfig config;
    config.encapsulation = Encapsulation::kNative;
    config.options.data_checksum = true;
    config.options.checksum_coverage = coverage;
    WirePeer peer(config);
    peer.OpenAsServer({32, 5, 8, 1, 0});  // Change L(Minimum Checksum Coverage, 1 0)
    peer.Take();
    ASSERT_TRUE(peer.Send("payload").ok());
    const auto sent = peer.Take();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].cscov, coverage);
    EXPECT_THAT(sent[0], HasOption(OptionType::kDataChecksum));
    EXPECT_TRUE(sent[0].checksum_good);
    // And on receipt: a packet made in that order is taken.
    const std::uint32_t crc = Crc32c(std::as_bytes(std::span("abc", 3)));
    const auto byte = [&](int i) { return static_cast<std::uint8_t>(crc >> (8 * i)); };
    peer.Inject(Data(peer.Next(), "abc").With({44, 6, byte(0), byte(1), byte(2), byte(3)}));
    EXPECT_THAT(peer.Read(), ElementsAre("abc"));
  }
}

// Another CCID beside CCID 2; it differs in nothing but its number.
class OtherCcid final : public CcidFactory {
 public:
  explicit OtherCcid(std::uint8_t number) : traits_(ccid2_.traits()) {
    traits_.id = static_cast<CcidId>(number);
  }
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override {
    return ccid2_.NewSender(init);
  }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override {
    return ccid2_.NewReceiver(init);
  }

 private:
  Ccid2Factory ccid2_;
  CcidTraits traits_;
};

class TwoCcids : public ::testing::Test {
 protected:
  static constexpr std::uint8_t kOther = 77;

  WirePeerConfig Config() {
    WirePeerConfig config;
    config.adjust = [this](EndpointConfig& endpoint) { endpoint.registry = &registry_; };
    return config;
  }
  void SetUp() override {
    ASSERT_TRUE(registry_.Add(ccid2_));
    ASSERT_TRUE(registry_.Add(other_));
  }
  static CcidId Ccid(int number) { return static_cast<CcidId>(number); }

  Ccid2Factory ccid2_;
  OtherCcid other_{kOther};
  CcidRegistry registry_;
};

TEST_F(TwoCcids, R4340_CC_01_ACcidGovernsTheDataOfItsEnd) {
  WirePeerConfig config = Config();
  config.options.tx_ccids = {Ccid(kOther), CcidId::k2};
  config.options.rx_ccids = {CcidId::k2};
  WirePeer peer(config);
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  // For our own data we offer, by Change L; of the peer's data we have nothing to ask but CCID 2.
  EXPECT_THAT(request, HasOption(OptionType::kChangeL, ElementsAre(1, kOther, 2)));
  EXPECT_THAT(request, Not(HasOption(OptionType::kChangeR, ElementsAre(1, kOther, 2))));
  peer.Inject(Response(peer.Next(), request.seq).With(ConfirmsFor(request)));
  EXPECT_EQ(peer.Info().tx_ccid, Ccid(kOther));
  EXPECT_EQ(peer.Info().rx_ccid, CcidId::k2);
}

TEST_F(TwoCcids, R4340_CC_01_AReceiverAsksForTheCcidOfItsSender) {
  WirePeerConfig config = Config();
  config.options.tx_ccids = {CcidId::k2};
  config.options.rx_ccids = {Ccid(kOther), CcidId::k2};
  WirePeer peer(config);
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  EXPECT_THAT(request, HasOption(OptionType::kChangeR, ElementsAre(1, kOther, 2)));
  peer.Inject(Response(peer.Next(), request.seq).With(ConfirmsFor(request)));
  EXPECT_EQ(peer.Info().tx_ccid, CcidId::k2);
  EXPECT_EQ(peer.Info().rx_ccid, Ccid(kOther));
}

TEST_F(TwoCcids, R4340_FT_06_AskingForOtherCcidsBuysNoFreshWindows) {
  WirePeer peer(Config());
  peer.OpenAsServer({34, 4, 1, 2});
  ASSERT_EQ(peer.Info().tx_ccid, CcidId::k2);
  // What arrives of data that waits in plenty while the peer asks for one CCID after the other.
  std::size_t data = 0;
  bool changed = false;
  for (int ms = 0; ms < 55'000; ms += 500) {
    while (peer.Send("x").ok()) continue;
    const std::uint8_t ccid = ms % 1000 == 0 ? kOther : 2;
    peer.Inject(Ack(peer.Next(), peer.gss()).With({34, 4, 1, ccid}));
    peer.Advance(milliseconds(500));
    changed = changed || peer.Info().tx_ccid == Ccid(kOther);
    for (const SentPacket& sent : peer.Take())
      if (sent.payload == "x") ++data;
  }
  EXPECT_TRUE(changed);
  // The window of the start, and that of the one change that was free.
  EXPECT_GT(data, 2u);
  EXPECT_LT(data, 20u);
}

TEST(Ccids, R4340_FT_04_Ccid2IsThereAndInForceFromTheStart) {
  WirePeer peer;
  peer.ClientInRequest();
  EXPECT_EQ(peer.Info().tx_ccid, CcidId::k2);
  EXPECT_EQ(peer.Info().rx_ccid, CcidId::k2);
  WirePeer server;
  server.OpenAsServer({32, 5, 1, 3, 2, 34, 5, 1, 3, 2});  // a peer that would rather have CCID 3
  EXPECT_EQ(server.Info().tx_ccid, CcidId::k2);
  EXPECT_EQ(server.Info().rx_ccid, CcidId::k2);
}

TEST(Features, R4340_FT_12_ReservedValuesOfEcnIncapableAreNotTaken) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({32, 5, 4, 2, 255}));
  // Neither value is known: the old one stays.
  EXPECT_THAT(peer.Take(), ElementsAre(HasOption(OptionType::kConfirmR, Contains(4))));
  peer.Inject(Ack(5001, peer.gss()));
  EXPECT_EQ(peer.Feature(FeatureNumber::kEcnIncapable, false), 0u);
  // And we, who read ECN, have no use for the feature.
  WirePeer client;
  client.Connect();
  EXPECT_THAT(client.TakeOne(), Not(HasOption(OptionType::kChangeL, Contains(4))));
}

TEST(Resets, R4340_FT_18_CodesOfCcidsEndTheConnectionAndAreTold) {
  // 128-191: from the peer's sender of data; 192-255: from its receiver.
  for (const unsigned code : {128u, 191u, 192u, 255u}) {
    WirePeer peer;
    peer.OpenAsClient();
    peer.Inject(Reset(peer.Next(), peer.gss(), code));
    EXPECT_EQ(peer.state(), State::kTimeWait);
    EXPECT_EQ(static_cast<unsigned>(peer.Info().close.reset.code), code);
    EXPECT_FALSE(peer.Info().close.clean);
  }
}

}  // namespace
}  // namespace dccp::peer
