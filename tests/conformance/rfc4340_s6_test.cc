// RFC 4340 §6: feature negotiation as it shows in packets; the details are the unit tests'
// business.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Octets Window(std::uint8_t type, std::uint64_t w) {
  Octets out = {type, 9, 3};
  for (int shift = 40; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(w >> shift));
  return out;
}

// What answers `options` on an Ack to an open endpoint, within two round trips.
std::vector<SentPacket> Answers(WirePeer& peer, const Octets& options) {
  peer.Inject(Ack(peer.Next(), peer.gss()).With(options));
  peer.Advance(seconds(1));
  return peer.Take();
}

template <typename M>
auto AnswersWith(OptionType type, M data) {
  return Contains(HasOption(type, data));
}

// An endpoint whose wish, Sequence Window 200, the peer has not answered yet.
struct Changing : WirePeer {
  static WirePeerConfig Config() {
    WirePeerConfig config;
    config.options.sequence_window = 200;
    return config;
  }
  Changing() : WirePeer(Config()) {
    Listen();
    Inject(Request(Next()));
    response = TakeOne();
    EXPECT_THAT(response, HasOption(OptionType::kChangeL, ElementsAre(3, 0, 0, 0, 0, 0, 200)));
    Octets confirms;
    for (const WireOption& option : response.options) {
      if (option.data[0] != 6) continue;
      const std::uint8_t type = option.type == OptionType::kChangeL ? 35 : 33;
      confirms.insert(confirms.end(), {type, 5, 6, 1, 1});
    }
    Inject(Ack(Next(), response.seq).With(confirms));
    EXPECT_EQ(state(), State::kOpen);
    Take();
  }
  std::uint64_t window() const { return Feature(FeatureNumber::kSequenceWindow, true); }
  SentPacket response;
};

TEST(Features, R4340_FT_01_RequiredFeaturesAreUnderstood) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {32, 4, 1, 2}),
              AnswersWith(OptionType::kConfirmR, ElementsAre(1, 2, 2)));
  EXPECT_THAT(Answers(peer, {34, 4, 1, 2}),
              AnswersWith(OptionType::kConfirmL, ElementsAre(1, 2, 2)));
  EXPECT_THAT(Answers(peer, {32, 4, 2, 0}),
              AnswersWith(OptionType::kConfirmR, AllOf(Contains(0), Not(ElementsAre(2)))));
  EXPECT_THAT(Answers(peer, {34, 4, 2, 0}),
              AnswersWith(OptionType::kConfirmL, AllOf(Contains(0), Not(ElementsAre(2)))));
  EXPECT_THAT(Answers(peer, Window(32, 1024)),
              AnswersWith(OptionType::kConfirmR, ElementsAre(3, 0, 0, 0, 0, 4, 0)));
}

TEST(Features, R4340_FN_03_FN_36_Bug_B8_Cve_2008_3276_AChangeWithoutAValueIsInvalid) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {32, 3, 1}), AnswersWith(OptionType::kConfirmR, ElementsAre(1)));
  EXPECT_THAT(Answers(peer, {34, 3, 1}), AnswersWith(OptionType::kConfirmL, ElementsAre(1)));
  EXPECT_THAT(Answers(peer, {32, 3, 3}), AnswersWith(OptionType::kConfirmR, ElementsAre(3)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Features, R4340_FN_05_FN_30_UnknownFeaturesGetAnEmptyConfirm) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {32, 4, 100, 1}), AnswersWith(OptionType::kConfirmR, ElementsAre(100)));
  EXPECT_THAT(Answers(peer, {34, 4, 100, 1}), AnswersWith(OptionType::kConfirmL, ElementsAre(100)));
  EXPECT_THAT(Answers(peer, {34, 4, 192, 1}), AnswersWith(OptionType::kConfirmL, ElementsAre(192)));
}

TEST(Features, R4340_FN_30_FN_37_MandatoryUnknownFeatureResets) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({1, 34, 4, 100, 7}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, 34, 100, 7)));
}

TEST(Features, R4340_FN_04_ConfirmsComeOnlyAsAnswers) {
  WirePeer peer;
  peer.OpenAsServer();
  Answers(peer, {32, 5, 5, 0, 4});
  peer.Advance(minutes(5));
  for (int i = 0; i < 4; ++i) peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  EXPECT_THAT(peer.Take(), AllOf(Not(IsEmpty()), Each(Not(HasOption(OptionType::kConfirmR)))));
}

TEST(Features, R4340_FN_07_FN_08_TheServersPreferenceWins) {
  // Both ends of Allow Short Seqnos prefer 0 here, the client's list begins with 1.
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {34, 5, 2, 1, 0}),
              AnswersWith(OptionType::kConfirmL, ElementsAre(2, 0, 0)));
  EXPECT_THAT(Answers(peer, {32, 5, 2, 1, 0}),
              AnswersWith(OptionType::kConfirmR, ElementsAre(2, 0, 0)));
  // An endpoint without a preference takes the first value.
  EXPECT_THAT(Answers(peer, {34, 5, 7, 1, 0}),
              AnswersWith(OptionType::kConfirmL, ElementsAre(7, 1, 1, 0)));
}

TEST(Features, R4340_FN_09_WithoutACommonEntryTheValueStays) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {34, 4, 1, 3}),
              AnswersWith(OptionType::kConfirmL, ElementsAre(1, 2, 2)));
  EXPECT_THAT(Answers(peer, {32, 5, 1, 3, 9}),
              AnswersWith(OptionType::kConfirmR, ElementsAre(1, 2, 2)));
  EXPECT_EQ(peer.Info().tx_ccid, CcidId::k2);
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Features, R4340_FN_10_FT_09_FN_41_Bug_B11_SequenceWindowBounds) {
  constexpr std::uint64_t kMax = (std::uint64_t{1} << 46) - 1;
  for (const std::uint64_t valid : {std::uint64_t{32}, std::uint64_t{33}, kMax}) {
    WirePeer peer;
    peer.OpenAsServer();
    const Octets option = Window(35, valid);
    EXPECT_THAT(
        Answers(peer, Window(32, valid)),
        AnswersWith(OptionType::kConfirmR, ElementsAreArray(option.begin() + 2, option.end())));
    EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, false), valid);
  }
  for (const std::uint64_t invalid : {std::uint64_t{0}, std::uint64_t{31}, kMax + 1, kMax + 2}) {
    WirePeer peer;
    peer.OpenAsServer();
    EXPECT_THAT(Answers(peer, Window(32, invalid)),
                AnswersWith(OptionType::kConfirmR, ElementsAre(3)));
    EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, false), 100u);
    const Octets value = Window(32, invalid);
    peer.Inject(Ack(peer.Next(), peer.gss()).With({1}).With(value));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, _, 6, 32, 3, value[3])));
  }
}

TEST(Features, R4340_FN_11_ChangeROfANonNegotiableFeatureIsInvalid) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, Window(34, 200)), AnswersWith(OptionType::kConfirmL, ElementsAre(3)));
  EXPECT_THAT(Answers(peer, {34, 5, 5, 0, 9}), AnswersWith(OptionType::kConfirmL, ElementsAre(5)));
  EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, true), 100u);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({1}).With(Window(34, 200)));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, _, 6, 34, 3, 0)));
}

TEST(Features, R4340_FN_12_FN_21_EachChangeIsConfirmedEvenARepeat) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Answers(peer, {32, 5, 5, 0, 4}),
                AnswersWith(OptionType::kConfirmR, ElementsAre(5, 0, 4)));
  }
}

TEST(Features, R4340_FN_13_OnePacketPerRoundTripForFeatures) {
  WirePeer peer;
  peer.OpenAsServer();
  const Duration rtt = peer.Info().rtt > Duration::zero() ? peer.Info().rtt : kDefaultRtt;
  peer.Advance(seconds(1));
  for (int i = 0; i < 20; ++i) {
    peer.Inject(Ack(peer.Next(), peer.gss()).With({32, 5, 5, 0, 4}));
    peer.Advance(rtt / 10);
  }
  EXPECT_LE(peer.Take().size(), 3u);
}

TEST(Features, R4340_FN_14_FN_02_ConfirmsAndChangesNeverGoOnData) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({32, 5, 5, 0, 4}));
  ASSERT_TRUE(peer.Send("data").ok());
  ASSERT_TRUE(peer.Send("data").ok());
  peer.Advance(seconds(1));
  const auto sent = peer.Take();
  EXPECT_THAT(sent, AnswersWith(OptionType::kConfirmR, ElementsAre(5, 0, 4)));
  for (const SentPacket& packet : sent) {
    if (packet.type == PacketType::kData) {
      EXPECT_THAT(packet.options, IsEmpty());
    }
  }
}

TEST(Features, R4340_FN_15_TheOldValueHoldsUntilTheConfirm) {
  Changing peer;
  EXPECT_EQ(peer.window(), 100u);
  peer.Inject(Ack(peer.Next(), peer.gss()).With(Window(35, 200)));
  EXPECT_EQ(peer.window(), 200u);
}

TEST(Features, R4340_FN_19_FN_20_FN_25_Bug_B12_ChangesAreRepeatedUnalteredWithBackOff) {
  Changing peer;
  peer.Advance(minutes(10));
  const auto sent = peer.Take();
  ASSERT_GT(sent.size(), 8u);
  Duration last = Duration::zero();
  Duration longest = Duration::zero();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_THAT(
        sent[i],
        IsAck(_, 5001u, HasOption(OptionType::kChangeL, ElementsAre(3, 0, 0, 0, 0, 0, 200))));
    if (i == 0) continue;
    const Duration gap = sent[i].time - sent[i - 1].time;
    EXPECT_GE(gap, last);
    EXPECT_GE(gap, kDefaultRtt);
    last = gap;
    longest = std::max(longest, gap);
  }
  EXPECT_GE(longest, seconds(64));
  peer.Inject(Ack(peer.Next(), peer.gss()).With(Window(35, 200)));
  EXPECT_EQ(peer.window(), 200u);
  peer.Take();
  peer.Advance(minutes(5));
  EXPECT_THAT(peer.Take(), Each(Not(HasOption(OptionType::kChangeL))));
}

TEST(Features, R4340_FN_22_FN_24_ReorderedChangesAreIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5006, peer.gss()).With({32, 5, 5, 0, 4}));
  peer.Inject(Ack(5004, peer.gss()).With({32, 5, 5, 0, 9}));
  peer.Advance(seconds(1));
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 4u);
  EXPECT_THAT(peer.Take(), AllOf(AnswersWith(OptionType::kConfirmR, ElementsAre(5, 0, 4)),
                                 Not(AnswersWith(OptionType::kConfirmR, ElementsAre(5, 0, 9)))));
}

TEST(Features, R4340_FN_37_OPT_15_AReorderedMandatoryChangeDoesNotReset) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5006, peer.gss()).With({32, 5, 5, 0, 4}));
  peer.Inject(Ack(5004, peer.gss()).With({1, 32, 4, 100, 1}));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Features, R4340_FN_23_StaleConfirmsAreIgnored) {
  Changing no_number;
  // Data has no Acknowledgement Number.
  no_number.Inject(Data(no_number.Next(), "x").With(Window(35, 200)));
  EXPECT_EQ(no_number.window(), 100u);

  Changing reordered;
  reordered.Inject(Ack(5006, reordered.gss()).With({32, 5, 5, 0, 4}));
  reordered.Inject(Ack(5004, reordered.gss()).With(Window(35, 200)));
  EXPECT_EQ(reordered.window(), 100u);

  // The Response of 1001 repeats the Change of 1000, which is where it was new.
  WirePeer peer(Changing::Config());
  peer.Listen();
  peer.Inject(Request(5000));
  peer.Inject(Request(5001));
  ASSERT_EQ(peer.gss(), kIss + 1);
  peer.Inject(Ack(5002, kIss).With(Window(35, 200)));
  EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, true), 200u);
}

TEST(Features, R4340_FN_31_AnEmptyConfirmOfAnOptionalFeatureEndsTheNegotiation) {
  WirePeerConfig config;
  config.options.send_ndp_count = true;
  WirePeer peer(config);
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  ASSERT_THAT(request, HasOption(OptionType::kChangeL, ElementsAre(7, 1)));
  peer.Inject(Response(5000, kIss).With({35, 3, 7, 33, 3, 7, 35, 5, 6, 1, 1, 33, 5, 6, 1, 1}));
  EXPECT_EQ(peer.state(), State::kPartOpen);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 0u);
  EXPECT_THAT(peer.Take(), Each(Not(HasOption(OptionType::kChangeL))));
}

TEST(Features, R4340_FN_32_AnEmptyConfirmOfARequiredFeatureResets) {
  Changing peer;
  peer.Inject(Ack(5002, peer.gss()).With({35, 3, 3}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 5, 35, 3, 0)));
}

TEST(Features, R4340_FN_33_FN_34_FN_38_UnexpectedConfirmsAreIgnored) {
  for (const Octets& options :
       {Octets{35, 3, 100}, Octets{1, 35, 3, 100}, Octets{1, 33, 5, 100, 1, 1}, Octets{35, 3, 1},
        Octets{33, 5, 7, 1, 1}, Octets{35, 4, 3, 1}, Octets{1, 35, 5, 1, 9, 9}}) {
    WirePeer peer;
    peer.OpenAsServer();
    EXPECT_THAT(Answers(peer, options), Each(Not(HasOption(OptionType::kConfirmL))));
    EXPECT_EQ(peer.state(), State::kOpen) << unsigned{options[1]};
  }
}

TEST(Features, R4340_FN_38_OPT_15_MandatoryBeforeAGoodConfirmChangesNothing) {
  Changing peer;
  peer.Inject(Ack(peer.Next(), peer.gss()).With({1}).With(Window(35, 200)));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.window(), 200u);
}

TEST(Features, R4340_FN_34_FN_36_InvalidConfirmsReset) {
  Changing length;
  length.Inject(Ack(5002, length.gss()).With({35, 5, 3, 7, 9}));
  EXPECT_THAT(length.Take(), ElementsAre(IsReset(_, 5002u, 5, 35, 3, 7)));
  Changing range;
  range.Inject(Ack(5002, range.gss()).With(Window(35, 31)));
  EXPECT_THAT(range.Take(), ElementsAre(IsReset(_, 5002u, 5, 35, 3, 0)));
  // Send Ack Vector is in CHANGING: 1 is what we asked for, 0 was never offered.
  WirePeer choice;
  choice.Connect();
  choice.Take();
  choice.Inject(Response(5000, kIss).With({35, 5, 6, 9, 9}));
  EXPECT_THAT(choice.Take(), ElementsAre(IsReset(_, 5000u, 5, 35, 6, 9)));
}

TEST(Features, R4340_FN_35_AR_01_AckRatioZeroIsValid) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(Answers(peer, {32, 5, 5, 0, 0}),
              AnswersWith(OptionType::kConfirmR, ElementsAre(5, 0, 0)));
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 0u);
}

TEST(Features, R4340_FN_29_SimultaneousChangesSettleBothEnds) {
  // The Request asks for Send Ack Vector at both ends, and so does the Response.
  WirePeer peer;
  peer.Connect();
  peer.Take();
  peer.Inject(Response(5000, kIss).With({1, 32, 4, 6, 1, 1, 34, 4, 6, 1}));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsAck(_, 5000u, HasOption(OptionType::kConfirmR, ElementsAre(6, 1, 1)),
                                HasOption(OptionType::kConfirmL, ElementsAre(6, 1, 1)))));
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendAckVector, true), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendAckVector, false), 1u);
}

TEST(Features, R4340_FT_02_FT_13_Ccid2AsksForAckVectorsAndSendsThem) {
  WirePeer peer;
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(), AllOf(HasOption(OptionType::kChangeL, ElementsAre(6, 1)),
                                    HasOption(OptionType::kChangeR, ElementsAre(6, 1))));
  WirePeer open;
  open.OpenAsServer();
  open.Inject(Data(open.Next(), "x"));
  open.Inject(Data(open.Next(), "x"));
  EXPECT_THAT(open.Take(), ElementsAre(HasOption(OptionType::kAckVectorNonce0)));
}

}  // namespace
}  // namespace dccp::peer
