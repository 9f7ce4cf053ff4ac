// RFC 4340 §5.8: options in general.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// An Ack with these options, then a Sync: what the endpoint sends meanwhile.
std::vector<SentPacket> AnswersTo(WirePeer& peer, const Octets& options) {
  peer.Inject(Ack(peer.Next(), peer.gss()).With(options));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "y"));
  return peer.Take();
}

Octets Timestamp(std::uint8_t value) { return {41, 6, 0, 0, 0, value}; }
auto Echoes(std::uint8_t value) {
  return HasOption(OptionType::kTimestampEcho, ElementsAre(0, 0, 0, value));
}

TEST(Options, R4340_OPT_02_OPT_03_PaddingMayStandAnywhere) {
  for (const Octets& options : {Octets{0, 0, 0, 41, 6, 0, 0, 0, 9}, Octets{41, 6, 0, 0, 0, 9, 0, 0},
                                Octets{0, 41, 6, 0, 0, 0, 9, 0, 0, 0, 43, 4, 0, 1}}) {
    WirePeer peer;
    peer.OpenAsServer();
    EXPECT_THAT(AnswersTo(peer, options), Contains(Echoes(9)));
  }
}

TEST(Options, R4340_OPT_03_OptionsSentAreWholeWords) {
  WirePeer peer;
  peer.OpenAsServer();
  for (const SentPacket& packet : AnswersTo(peer, Timestamp(9)))
    EXPECT_EQ((packet.bytes.size() - packet.payload.size()) % 4, 0u);
}

TEST(Options, R4340_OPT_05_FN_16_OptionsTakeEffectInOrder) {
  WirePeer peer;
  peer.OpenAsServer();
  const auto sent = AnswersTo(peer, {32, 5, 5, 0, 3, 32, 5, 5, 0, 7});
  EXPECT_THAT(sent, Contains(HasOption(OptionType::kConfirmR, ElementsAre(5, 0, 7))));
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 7u);
}

TEST(Options, R4340_OPT_06_UnknownTypesAreIgnored) {
  for (const std::uint8_t type : {std::uint8_t{60}, std::uint8_t{127}, std::uint8_t{130},
                                  std::uint8_t{200}, std::uint8_t{255}}) {
    WirePeer peer;
    peer.OpenAsServer();
    Octets options = {type, 4, 1, 2};
    const Octets after = Timestamp(9);
    options.insert(options.end(), after.begin(), after.end());
    EXPECT_THAT(AnswersTo(peer, options), Contains(Echoes(9))) << unsigned{type};
    EXPECT_EQ(peer.state(), State::kOpen);
  }
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(AnswersTo(peer, {7, 31, 41, 6, 0, 0, 0, 9}), Contains(Echoes(9)));
}

TEST(Options, R4340_OPT_07_NonsensicalLengthEndsTheOptionsInSilence) {
  for (const std::uint8_t length : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{255}}) {
    WirePeer before;
    before.OpenAsServer();
    EXPECT_THAT(AnswersTo(before, {41, 6, 0, 0, 0, 9, 60, length}), Contains(Echoes(9)));
    EXPECT_EQ(before.state(), State::kOpen);

    WirePeer after;
    after.OpenAsServer();
    EXPECT_THAT(AnswersTo(after, {60, length, 41, 6, 0, 0, 0, 9}),
                AllOf(Not(IsEmpty()), Not(Contains(HasOption(OptionType::kTimestampEcho)))));
    EXPECT_EQ(after.state(), State::kOpen);
  }
}

TEST(Options, R4340_OPT_09_CSM_13_WrongLengthsAreIgnored) {
  for (const Octets& bad :
       {Octets{41, 5, 0, 0, 1}, Octets{41, 7, 0, 0, 0, 0, 1}, Octets{42, 7, 0, 0, 0, 0, 1},
        Octets{42, 5, 0, 0, 1}, Octets{43, 3, 1}, Octets{43, 5, 1, 1, 1}, Octets{37, 2},
        Octets{37, 9, 0, 0, 0, 0, 0, 0, 1}, Octets{44, 4, 1, 1}, Octets{44, 7, 1, 1, 1, 1, 1},
        Octets{32, 2}, Octets{33, 2}, Octets{38, 2}, Octets{40, 2}}) {
    WirePeer peer;
    peer.OpenAsServer();
    const Octets good = Timestamp(9);
    peer.Inject(DataAck(peer.Next(), peer.gss(), "x").With(bad).With(good));
    peer.Inject(DataAck(peer.Next(), peer.gss(), "y").With(bad));
    EXPECT_THAT(peer.Take(), Contains(Echoes(9))) << unsigned{bad[0]} << ' ' << unsigned{bad[1]};
    EXPECT_THAT(peer.Read(), ElementsAre("x", "y"));
    EXPECT_EQ(peer.state(), State::kOpen);
  }
}

TEST(Options, R4340_OPT_10_FN_02_OptionsThatADataPacketMayNotCarryAreIgnored) {
  for (const Octets& options :
       {Octets{32, 5, 5, 0, 9}, Octets{34, 4, 7, 1}, Octets{33, 4, 6, 1}, Octets{35, 3, 1},
        Octets{36, 4, 1, 2}, Octets{38, 3, 0}, Octets{39, 3, 192}, Octets{40, 3, 0x83},
        Octets{43, 4, 0, 1}, Octets{1, 60, 2}, Octets{1, 1}, Octets{1, 32, 4, 100, 1},
        Octets{0, 0, 0, 1}}) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Data(peer.Next(), "x").With(options));
    peer.Inject(Data(peer.Next(), "y"));
    const auto sent = peer.Take();
    EXPECT_THAT(sent, ElementsAre(AllOf(IsAck(_, 5003u), Not(HasOption(OptionType::kConfirmR)),
                                        Not(HasOption(OptionType::kConfirmL)))))
        << unsigned{options[0]};
    EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 2u);
    EXPECT_THAT(peer.Read(), ElementsAre("x", "y"));
  }
}

TEST(Options, R4340_OPT_11_MandatoryPaddingIsPadding) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(AnswersTo(peer, {1, 0, 60, 2, 41, 6, 0, 0, 0, 9}), Contains(Echoes(9)));
  EXPECT_EQ(peer.state(), State::kOpen);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({0, 0, 1, 0}));
  EXPECT_EQ(peer.state(), State::kOpen);
}

struct MandatoryCase {
  Octets option;
  int d2, d3;
};

TEST(Options, R4340_OPT_12_MandatoryBeforeWhatIsNotDoneResets) {
  for (const MandatoryCase& c : {MandatoryCase{{60, 4, 8, 9}, 8, 9},      // not understood
                                 MandatoryCase{{41, 5, 3, 0, 1}, 3, 0},   // invalid
                                 MandatoryCase{{32, 4, 100, 1}, 100, 1},  // no feature
                                 MandatoryCase{{32, 5, 5, 7, 0}, 0, 0},   // fine
                                 MandatoryCase{{32, 4, 5, 7}, 5, 7},      // invalid value
                                 MandatoryCase{{34, 4, 1, 9}, 1, 9}}) {   // unacceptable
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Ack(5002, peer.gss()).With({1}).With(c.option));
    if (c.d2 == 0) {
      EXPECT_EQ(peer.state(), State::kOpen);
    } else {
      EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, c.option[0], c.d2, c.d3)));
      EXPECT_EQ(peer.state(), State::kClosed);
    }
  }
}

TEST(Options, R4340_OPT_12_MandatoryBeforeWhatIsDoneChangesNothing) {
  WirePeer peer;
  peer.OpenAsServer();
  EXPECT_THAT(AnswersTo(peer, {1, 41, 6, 0, 0, 0, 9, 1, 43, 4, 0, 1, 1, 37, 3, 1, 1, 2}),
              Contains(Echoes(9)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Options, R4340_OPT_13_MandatoryMeansNothingOnData) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "data").With({1, 45, 3, 0xFF}));
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_THAT(peer.Read(), ElementsAre("data"));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Options, R4340_OPT_13_MandatoryIsNeverSentOnData) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("one").ok());
  for (const SentPacket& packet : peer.Take()) {
    for (const WireOption& option : packet.options) EXPECT_FALSE(option.mandatory);
  }
}

TEST(Options, R4340_OPT_14_MandatoryWithoutAnOptionIsAnOptionError) {
  for (const Octets& options : {Octets{60, 3, 0, 1}, Octets{1, 1, 41, 6, 0, 0, 0, 9}}) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Ack(5002, peer.gss()).With(options));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 5, 1)));
    EXPECT_EQ(peer.state(), State::kClosed);
  }
}

// The RFC is silent; the option after Mandatory was not processed, which Mandatory forbids.
TEST(Options, R4340_OPT_14_MandatoryBeforeANonsensicalLength) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({1, 60, 77, 9}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, 60, 9)));
}

TEST(Options, R4340_OPT_16_NothingOnADataPacketHasASeriousEffect) {
  WirePeer peer;
  peer.OpenAsServer();
  TestRandom random(7);
  for (int i = 0; i < 5000; ++i) {
    Octets options(4 * (1 + random.Below(10)));
    for (std::uint8_t& b : options) {
      // Types below 46 and small lengths make sense more often than any byte.
      b = static_cast<std::uint8_t>(random.Below(random.Below(4) == 0 ? 256 : 46));
    }
    peer.Inject(Data(peer.Next(), "x").With(options));
    for (const SentPacket& packet : peer.Take()) {
      ASSERT_EQ(packet.type, PacketType::kAck) << ::testing::PrintToString(packet);
      ASSERT_THAT(packet, Not(HasOption(OptionType::kConfirmR)));
      peer.Inject(Ack(peer.Next(), packet.seq));
      peer.Take();
    }
    peer.Read();
  }
  EXPECT_EQ(peer.state(), State::kOpen);
  for (const bool here : {true, false}) {
    EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, here), 100u);
    EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, here), 0u);
    EXPECT_EQ(peer.Feature(FeatureNumber::kCheckDataChecksum, here), 0u);
    EXPECT_EQ(peer.Feature(FeatureNumber::kAllowShortSeqnos, here), 0u);
  }
}

TEST(Options, R4340_OPT_17_AV_04_DD_02_AcknowledgementOptionsOnARequestAreIgnored) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({38, 4, 0, 63, 40, 3, 0x83, 43, 4, 0, 1, 36, 3, 1}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(kIss, 5000u)));
}

}  // namespace
}  // namespace dccp::peer
