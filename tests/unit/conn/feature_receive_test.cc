// What received feature options do. RFC 4340 §6.5, §6.6
#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)
using testing::Optional;

constexpr auto kHandshake = Endpoint::Phase::kHandshake;
const auto kNoReset = std::nullopt;

Endpoint Open(Role role = Role::kServer) {
  Endpoint e(role);
  e.Start();
  return e;
}

Endpoint OpenWith(Role role, Located at, PreferenceList ccids) {
  Endpoint e(role);
  EXPECT_TRUE(e.n.Configure({kCcid, at, ccids, 0, false, false}));
  e.Start();
  return e;
}

// --------------------------------------------------------------------- the bytes of RFC 4340 §6.5

TEST(FeatureNegotiator, R4340_FN_01_ChangesOfTheRfc) {
  Endpoint e(Role::kClient);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {2, 3}}));
  ASSERT_TRUE(e.n.Configure({kCcid, kRemote, {3, 2}}));
  ASSERT_TRUE(e.n.Configure({kSequenceWindow, kLocal, {}, 1024}));
  e.Start(kHandshake);
  EXPECT_EQ(e.Send(PacketType::kRequest),
            "2005010203"
            "2205010302"
            "200903000000000400");
}

TEST(FeatureNegotiator, R4340_FN_01_ConfirmsOfTheRfc) {
  Endpoint e(Role::kServer);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {2, 3}, 0, false, false}));
  ASSERT_TRUE(e.n.Configure({kCcid, kRemote, {2, 3}, 0, false, false}));
  e.Start();
  // Change R(CCID, 2), Change L(CCID, 3 2), Change L(Sequence Window, 1024), Change R(126, 1),
  // Change L(126, 1).
  EXPECT_EQ(e.Receive("22040102"
                      "2005010302"
                      "200903000000000400"
                      "22047e01"
                      "20047e01"),
            kNoReset);
  EXPECT_EQ(e.Send(),
            "2106010202032306010202032309030000000004002103"
            "7e"
            "23037e");
  EXPECT_EQ(e.Value(kSequenceWindow, kRemote), 1024u);
}

TEST(FeatureNegotiator, R4340_FN_07_Bug_B16_SpExamplesOfTheRfc) {
  // Change R(CCID, 2 3 1) -> Confirm L(CCID, 3, 3 2 1); the server runs 1, 2 and 3.
  Endpoint server(Role::kServer);
  ASSERT_TRUE(server.n.RegisterCcid(CcidId{1}, {}));
  ASSERT_TRUE(server.n.Configure({kCcid, kLocal, {3, 2, 1}, 0, false, false}));
  server.Start();
  EXPECT_EQ(server.Receive("2206010203"
                           "01"),
            kNoReset);
  EXPECT_EQ(server.Send(),
            "210701"
            "03"
            "030201");
  EXPECT_EQ(server.Value(kCcid), 3u);
  // Change L(CCID, 3 2 1) -> Confirm R(CCID, 3, 2 3 1).
  Endpoint client(Role::kClient);
  ASSERT_TRUE(client.n.RegisterCcid(CcidId{1}, {}));
  ASSERT_TRUE(client.n.Configure({kCcid, kRemote, {2, 3, 1}, 0, false, false}));
  client.Start();
  EXPECT_EQ(client.Receive("2006010302"
                           "01"),
            kNoReset);
  EXPECT_EQ(client.Send(),
            "230701"
            "03"
            "020301");
  EXPECT_EQ(client.Value(kCcid, kRemote), 3u);
}

// ------------------------------------------------------------------------------------- reconciling

TEST(FeatureNegotiator, R4340_FN_08_ServerListDecidesInAllFourDirections) {
  for (Located at : {kLocal, kRemote}) {
    const std::string change = at == kLocal ? "22" : "20";
    const std::string confirm = at == kLocal ? "21" : "23";
    Endpoint server = OpenWith(Role::kServer, at, {3, 2});
    EXPECT_EQ(server.Receive(change + "05010203"), kNoReset);
    EXPECT_EQ(server.Send(), confirm + "0601030302");
    Endpoint client = OpenWith(Role::kClient, at, {2, 3});
    EXPECT_EQ(client.Receive(change + "05010302"), kNoReset);
    EXPECT_EQ(client.Send(), confirm + "0601030203");
  }
}

TEST(FeatureNegotiator, R4340_FN_09_Bug_B13_NoSharedEntryKeepsTheValue) {
  Endpoint e = OpenWith(Role::kServer, kRemote, {2});
  EXPECT_EQ(e.Receive("20040103"), kNoReset);
  EXPECT_EQ(e.Send(), "2305010202");
  EXPECT_EQ(e.Value(kCcid, kRemote), 2u);
  EXPECT_EQ(e.n.PollChange(), std::nullopt);
}

TEST(FeatureNegotiator, R4340_FN_09_OldValueOutsideTheListIsConfirmedFirst) {
  Endpoint e = Open();
  ASSERT_EQ(e.Receive("20040805"), kNoReset);
  EXPECT_EQ(e.Send(), Confirm8("23", 5));
  ASSERT_TRUE(e.n.ChangePreference(kMinChecksumCoverage, kRemote, {7}));
  ASSERT_EQ(e.Receive("20040809"), kNoReset);
  EXPECT_EQ(e.Send(),
            "2305080507"
            "22040807");
  EXPECT_EQ(e.Value(kMinChecksumCoverage, kRemote), 5u);
}

TEST(FeatureNegotiator, Bug_B31_ListWithAnUnknownCcid) {
  Endpoint e = OpenWith(Role::kServer, kRemote, {2, 3});
  EXPECT_EQ(e.Receive("2005010903"), kNoReset);
  EXPECT_EQ(e.Send(),
            "2306010302"
            "03");
  EXPECT_EQ(e.Value(kCcid, kRemote), 3u);
}

TEST(FeatureNegotiator, AcceptsThePeersFirstUnderstoodValueWhereItPrefersNothing) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("2205"
                      "070901"
                      "2205"
                      "080f00"),
            kNoReset);
  EXPECT_EQ(e.Send(), "210607010100" + Confirm8("21", 15));
  EXPECT_EQ(e.Value(kSendNdpCount), 1u);
  EXPECT_EQ(e.Value(kMinChecksumCoverage), 15u);
}

TEST(FeatureNegotiator, R4340_FN_34_UnknownSpValuesAreNotInvalid) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("22040707"), kNoReset);
  EXPECT_EQ(e.Send(), "210607000001");
}

TEST(FeatureNegotiator, R4340_LNX_10_ShortSeqnosAreNotSentByDefault) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("22040201"), kNoReset);
  EXPECT_EQ(e.Send(), "2105020000");
  EXPECT_EQ(e.Value(kAllowShortSeqnos), 0u);
}

TEST(FeatureNegotiator, ReconcilesListsLongerThanItStores) {
  std::string list;
  for (int v = 100; v < 200; ++v) list += ToHex(std::vector{static_cast<std::byte>(v)});
  Endpoint e = OpenWith(Role::kServer, kRemote, {2, 3});
  EXPECT_EQ(e.Receive("206801" + list + "03"), kNoReset);
  EXPECT_EQ(e.Send(),
            "2306010302"
            "03");
}

// --------------------------------------------------------------------------------- non-negotiable

TEST(FeatureNegotiator, R4340_FN_10_FT_09_Bug_B11_SequenceWindowBounds) {
  struct Case {
    const char* change;
    const char* answer;
    std::uint64_t value;
  };
  constexpr Case kCases[] = {
      {"200903000000000020", "230903000000000020", 32},
      {"200903"
       "3fffffffffff",
       "230903"
       "3fffffffffff",
       (std::uint64_t{1} << 46) - 1},
      {"200903"
       "00000000001f",
       "230303", 100},
      {"200903"
       "000000000000",
       "230303", 100},
      {"200903"
       "400000000000",
       "230303", 100},
      {"200903"
       "400000000001",
       "230303", 100},
      {"200403"
       "64",
       "230303", 100},
      {"200a03"
       "00000000000064",
       "230303", 100},
  };
  for (const Case& c : kCases) {
    Endpoint e = Open();
    EXPECT_EQ(e.Receive(c.change), kNoReset);
    EXPECT_EQ(e.Send(), c.answer) << c.change;
    EXPECT_EQ(e.Value(kSequenceWindow, kRemote), c.value) << c.change;
    Endpoint m = Open();
    const bool valid = std::string(c.answer).size() > 6;
    EXPECT_EQ(m.Receive(std::string("01") + c.change).has_value(), !valid) << c.change;
  }
}

TEST(FeatureNegotiator, R4340_FN_35_AckRatioZeroIsValid) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("2005050000"), kNoReset);
  EXPECT_EQ(e.Send(), "2305050000");
  EXPECT_EQ(e.Value(kAckRatio, kRemote), 0u);
}

TEST(FeatureNegotiator, R4340_FN_11_ChangeRofNnIsInvalid) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("220903000000000400"), kNoReset);
  EXPECT_EQ(e.Send(), "210303");
  EXPECT_EQ(e.Value(kSequenceWindow), 100u);
  EXPECT_THAT(e.Receive("01220903000000000400"),
              Optional(Reset(ResetCode::kMandatoryError, 34, 3, 0)));
}

TEST(FeatureNegotiator, R4340_FN_11_NeverProposesAnNnFeatureOfThePeer) {
  Endpoint e(Role::kClient);
  EXPECT_EQ(e.n.Configure({kSequenceWindow, kRemote, {}, 1000}).error(), Error::kInvalidArgument);
  EXPECT_EQ(e.n.ChangePreference(kSequenceWindow, kRemote, {50}).error(), Error::kInvalidArgument);
}

// ------------------------------------------------------------------- unknown, invalid, Mandatory

TEST(FeatureNegotiator, R4340_FN_05_FN_30_Bug_B25_UnknownFeatureGetsAnEmptyConfirm) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("20043201"
                      "22046401"
                      "2004c001"
                      "22040001"),
            kNoReset);
  EXPECT_EQ(e.Send(),
            "210300"
            "210364"
            "230332"
            "2303c0");
  EXPECT_EQ(e.Send(), "");
}

TEST(FeatureNegotiator, AnswersEveryUnknownFeatureOfACrowdedPacket) {
  Endpoint e = Open();
  std::string hex;
  for (int f = 10; f < 210; ++f)
    hex += "2004" + ToHex(std::vector{static_cast<std::byte>(f)}) + "00";
  EXPECT_EQ(e.Receive(hex), kNoReset);
  std::size_t answers = 0;
  for (int i = 0; i < 20; ++i) answers += e.Send(PacketType::kAck, 100).size() / 6;
  EXPECT_EQ(answers, 200u);
  EXPECT_TRUE(e.n.AllStable());
}

TEST(FeatureNegotiator, R4340_FN_37_Bug_B24_MandatoryChangeFailures) {
  struct Case {
    const char* options;
    ResetReason reset;
  };
  const Case kCases[] = {
      {"0120043201", Reset(ResetCode::kMandatoryError, 32, 0x32, 1)},         // unknown
      {"0120040109", Reset(ResetCode::kMandatoryError, 32, 1, 9)},            // nothing shared
      {"01200301", Reset(ResetCode::kMandatoryError, 32, 1, 0)},              // no value
      {"0120090300000000001f", Reset(ResetCode::kMandatoryError, 32, 3, 0)},  // out of range
  };
  for (const Case& c : kCases) {
    Endpoint e = Open();
    EXPECT_THAT(e.Receive(c.options), Optional(c.reset)) << c.options;
  }
}

TEST(FeatureNegotiator, R4340_FN_37_ReorderedMandatoryChangeIsIgnored) {
  for (const char* options : {"0120043201", "0120040109", "01200301"}) {
    Endpoint e = Open();
    ASSERT_EQ(e.ReceiveAt(10, S(0), "20040701"), kNoReset);
    EXPECT_EQ(e.ReceiveAt(9, S(0), options), kNoReset) << options;
    EXPECT_EQ(e.ReceiveAt(10, S(0), options), kNoReset) << options;
    EXPECT_EQ(e.Send(), "230607010100");
  }
}

TEST(FeatureNegotiator, R4340_FN_03_Bug_B8_ChangeWithoutValue) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("200301"), kNoReset);
  EXPECT_EQ(e.Send(), "230301");
  EXPECT_EQ(e.Receive("220301"), kNoReset);
  EXPECT_EQ(e.Send(), "210301");
}

TEST(FeatureNegotiator, Bug_B9_OptionWithoutFeatureNumberIsIgnored) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("2002"
                      "2302"
                      "20040701"),
            kNoReset);
  EXPECT_EQ(e.Send(), "230607010100");
}

TEST(FeatureNegotiator, R4340_FN_36_NewerInvalidChangeReplacesTheWaitingAnswer) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("20040701"
                      "200307"),
            kNoReset);
  EXPECT_EQ(e.Send(), "230307");
  EXPECT_EQ(e.Value(kSendNdpCount, kRemote), 0u);
  EXPECT_EQ(e.Receive("200307"
                      "20040701"),
            kNoReset);
  EXPECT_EQ(e.Send(), "230607010100");
}

TEST(FeatureNegotiator, R4340_FN_02_Bug_B7_IgnoredOnData) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("0120043201"
                      "20040701",
                      PacketType::kData),
            kNoReset);
  EXPECT_EQ(e.Send(), "");
  // Nor does such a packet count for reordering.
  EXPECT_EQ(e.ReceiveAt(1, S(0), "20040701"), kNoReset);
  EXPECT_EQ(e.Send(), "230607010100");
}

// -------------------------------------------------------------------------- order and repetition

TEST(FeatureNegotiator, R4340_FN_22_FN_24_OldChangesAreIgnored) {
  Endpoint e = Open();
  ASSERT_EQ(e.ReceiveAt(5, S(0), "20040801"), kNoReset);
  ASSERT_EQ(e.ReceiveAt(4, S(0), "20040802"), kNoReset);
  ASSERT_EQ(e.ReceiveAt(5, S(0), "20040803"), kNoReset);
  EXPECT_EQ(e.Send(), Confirm8("23", 1));
  // A packet without feature options does not count.
  ASSERT_EQ(e.ReceiveAt(9, S(0), ""), kNoReset);
  ASSERT_EQ(e.ReceiveAt(7, S(0), "20040704"), kNoReset);
  EXPECT_EQ(e.Send(), "230607000001");
}

TEST(FeatureNegotiator, R4340_FN_24_FgsrStartsBelowTheFirstPacket) {
  Endpoint e = Open();
  ASSERT_EQ(e.ReceiveAt(0, S(0), "20040701", PacketType::kRequest), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kResponse), "230607010100");
}

TEST(FeatureNegotiator, R4340_FN_16_OptionsOfOnePacketCountOneByOne) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("20040801"
                      "20040802"
                      "200903000000000400"
                      "200903000000000800"),
            kNoReset);
  EXPECT_EQ(e.Send(), "230903000000000800" + Confirm8("23", 2, 1));
}

TEST(FeatureNegotiator, R4340_FN_21_FN_04_OneConfirmForEachRepeatAndNoMore) {
  Endpoint e = Open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(e.Receive("20040701"), kNoReset);
    EXPECT_EQ(e.Send(), "230607010100");
    EXPECT_EQ(e.Send(), "");
  }
}

TEST(FeatureNegotiator, R4340_FN_15_ConfirmSenderSwitchesOnSending) {
  Endpoint e = Open();
  ASSERT_EQ(e.Receive("200903000000000400"), kNoReset);
  EXPECT_EQ(e.Value(kSequenceWindow, kRemote), 100u);
  EXPECT_FALSE(e.n.stable(kSequenceWindow, kRemote));
  EXPECT_EQ(e.n.PollChange(), std::nullopt);
  e.Send();
  EXPECT_EQ(e.Value(kSequenceWindow, kRemote), 1024u);
  const auto change = e.n.PollChange();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->feature, kSequenceWindow);
  EXPECT_EQ(change->at, kRemote);
  EXPECT_EQ(change->value, 1024u);
  EXPECT_EQ(change->outcome, FeatureOutcome::kChanged);
  EXPECT_EQ(e.n.PollChange(), std::nullopt);
}

TEST(FeatureNegotiator, R4340_FN_12_ChangeFromBeforeAnAnsweredPacketIsIgnored) {
  Endpoint e = Open();
  ASSERT_EQ(e.ReceiveAt(1, S(0), "20040801"), kNoReset);
  ASSERT_EQ(e.ReceiveAt(6, S(0), ""), kNoReset);
  EXPECT_EQ(e.Send(), Confirm8("23", 1));  // acknowledges packet 6, and so answers Changes up to it
  ASSERT_EQ(e.ReceiveAt(4, S(0), "20040802"), kNoReset);
  EXPECT_EQ(e.Send(), "");
  ASSERT_EQ(e.ReceiveAt(7, S(0), "20040802"), kNoReset);
  EXPECT_EQ(e.Send(), Confirm8("23", 2, 1));
}

TEST(FeatureNegotiator, R4340_FT_01_RequiredFeaturesGetAnswers) {
  Endpoint e = Open();
  ASSERT_EQ(e.Receive("20040102"
                      "22040102"
                      "20040200"
                      "22040200"
                      "200903000000000400"),
            kNoReset);
  EXPECT_EQ(FeatureOptions(FromHex(e.Send())),
            (std::vector<std::string>{"210601020203", "230601020203", "2105020000", "230602000001",
                                      "230903000000000400"}));
}

}  // namespace
}  // namespace dccp
