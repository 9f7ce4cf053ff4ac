// What Confirms do in each state, and wishes that change or cross. RFC 4340 §6.6.2, §6.6.4-§6.6.6
#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)
using testing::Optional;

const auto kNoReset = std::nullopt;

Endpoint Open(Role role = Role::kServer) {
  Endpoint e(role);
  e.Start();
  return e;
}

Endpoint Changing(Role role, PreferenceList ccids) {
  Endpoint e(role);
  EXPECT_TRUE(e.n.Configure({kCcid, kLocal, ccids}));
  EXPECT_TRUE(e.n.Configure({kAckRatio, kLocal, {}, 3}));
  EXPECT_TRUE(e.n.Configure({kSendNdpCount, kRemote, {1}}));
  e.Start();
  EXPECT_EQ(FeatureOptions(FromHex(e.Send())).size(), 3u);
  return e;
}

TEST(FeatureConfirms, R4340_FN_17_FN_18_ConfirmsInChanging) {
  enum class Then { kTaken, kKept, kIgnored, kReset };
  struct Case {
    const char* option;
    Then then;
    FeatureNumber feature;
    Located at;
    std::uint64_t value;
  };
  constexpr Case kCases[] = {
      {"2306010302"
       "03",
       Then::kReset, kCcid, kLocal, 2},  // their 2 comes first
      {"2306010202"
       "03",
       Then::kTaken, kCcid, kLocal, 2},
      {"2306010303"
       "02",
       Then::kTaken, kCcid, kLocal, 3},
      {"23050103"
       "03",
       Then::kTaken, kCcid, kLocal, 3},
      {"23050109"
       "09",
       Then::kReset, kCcid, kLocal, 2},  // nothing shared: must be the old one
      {"23050102"
       "09",
       Then::kKept, kCcid, kLocal, 2},
      {"23040103", Then::kTaken, kCcid, kLocal, 3},  // no list to check against
      {"23040109", Then::kReset, kCcid, kLocal, 2},
      {"2305050003", Then::kTaken, kAckRatio, kLocal, 3},
      {"2305050004", Then::kIgnored, kAckRatio, kLocal, 2},
      {"23040503", Then::kReset, kAckRatio, kLocal, 2},  // length
      {"2306050000"
       "03",
       Then::kReset, kAckRatio, kLocal, 2},
      {"230305", Then::kKept, kAckRatio, kLocal, 2},
      {"2105070101", Then::kTaken, kSendNdpCount, kRemote, 1},
      {"2105070000", Then::kKept, kSendNdpCount, kRemote, 0},
      {"2105070100", Then::kReset, kSendNdpCount, kRemote, 0},
      {"210307", Then::kKept, kSendNdpCount, kRemote, 0},
      {"2305070101", Then::kIgnored, kSendNdpCount, kRemote, 0},  // the other location: not asked
      {"2105050003", Then::kIgnored, kAckRatio, kLocal, 2},
  };
  for (const Case& c : kCases) {
    for (const char* mandatory : {"", "01"}) {
      Endpoint e = Changing(Role::kClient, {3, 2});
      EXPECT_EQ(e.Receive(std::string(mandatory) + c.option).has_value(), c.then == Then::kReset)
          << c.option;
      EXPECT_EQ(e.n.stable(c.feature, c.at), c.then == Then::kTaken || c.then == Then::kKept)
          << c.option;
      EXPECT_EQ(e.Value(c.feature, c.at), c.value) << c.option;
      if (c.then == Then::kKept && c.feature != kCcid) {
        const auto change = e.n.PollChange();
        ASSERT_TRUE(change) << c.option;
        EXPECT_EQ(change->outcome, FeatureOutcome::kRefused);
      }
    }
  }
}

TEST(FeatureConfirms, RefusalDoesNotHideAChangeThatWasNotTold) {
  Endpoint e = Open(Role::kClient);
  ASSERT_EQ(e.Receive("20040701"), kNoReset);
  e.Send();
  ASSERT_TRUE(e.n.ChangePreference(kSendNdpCount, kRemote, {0}));
  e.Send();
  ASSERT_EQ(e.Receive("210307"), kNoReset);
  const auto change = e.n.PollChange();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->outcome, FeatureOutcome::kChanged);
  EXPECT_EQ(change->value, 1u);
  EXPECT_EQ(e.n.PollChange(), std::nullopt);
}

TEST(FeatureConfirms, R4340_FN_36_Bug_B27_InvalidConfirmResets) {
  Endpoint e = Changing(Role::kClient, {3, 2});
  EXPECT_THAT(e.Receive("2305010707"), Optional(Reset(ResetCode::kOptionError, 35, 1, 7)));
  Endpoint w = Open(Role::kClient);
  ASSERT_TRUE(w.n.ChangeLocalNn(kSequenceWindow, 1024));
  w.Send();
  EXPECT_THAT(w.Receive("23090300000000001f"), Optional(Reset(ResetCode::kOptionError, 35, 3, 0)));
}

TEST(FeatureConfirms, R4340_FN_23_ConfirmsThatDoNotAnswerTheLatestChange) {
  const std::string confirm =
      "2306010303"
      "02";
  {
    Endpoint e = Changing(Role::kClient, {3, 2});
    ASSERT_EQ(e.ReceiveAt(3, S(0), confirm), kNoReset);  // P.ackno < FGSS
    EXPECT_FALSE(e.n.stable(kCcid, kLocal));
    ASSERT_EQ(e.ReceiveAt(4, std::nullopt, confirm, PacketType::kRequest), kNoReset);
    EXPECT_FALSE(e.n.stable(kCcid, kLocal));
    ASSERT_EQ(e.ReceiveAt(3, S(1), confirm), kNoReset);  // P.seqno <= FGSR
    EXPECT_FALSE(e.n.stable(kCcid, kLocal));
    ASSERT_EQ(e.ReceiveAt(5, S(1), confirm), kNoReset);
    EXPECT_TRUE(e.n.stable(kCcid, kLocal));
  }
}

TEST(FeatureConfirms, R4340_FN_32_LNX_11_EmptyConfirmForRequiredFeatures) {
  // CCID 2 is in force and in our list: go on with it.
  Endpoint tolerant = Changing(Role::kClient, {3, 2});
  EXPECT_EQ(tolerant.Receive("230301"), kNoReset);
  EXPECT_EQ(tolerant.Value(kCcid), 2u);
  EXPECT_TRUE(tolerant.n.stable(kCcid, kLocal));
  // It is not: Reset.
  Endpoint strict = Changing(Role::kClient, {3});
  EXPECT_THAT(strict.Receive("230301"), Optional(Reset(ResetCode::kOptionError, 35, 1, 0)));
  Endpoint window = Open(Role::kClient);
  ASSERT_TRUE(window.n.ChangeLocalNn(kSequenceWindow, 1024));
  window.Send();
  EXPECT_THAT(window.Receive("230303"), Optional(Reset(ResetCode::kOptionError, 35, 3, 0)));
}

TEST(FeatureConfirms, R4340_FN_33_FN_38_ConfirmsForUnknownFeaturesAreIgnored) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("2304320101"
                      "01"
                      "230332"),
            kNoReset);
  EXPECT_EQ(e.Receive("0123043201"), kNoReset);
  EXPECT_EQ(e.Send(), "");
}

TEST(FeatureConfirms, R4340_FN_17_ConfirmsInStableAreIgnored) {
  Endpoint e = Open();
  EXPECT_EQ(e.Receive("2305010707"
                      "230303"
                      "230503"
                      "00"),
            kNoReset);
  EXPECT_EQ(e.Value(kCcid), 2u);
}

// ------------------------------------------------------------- simultaneous and changed wishes

TEST(FeatureConfirms, R4340_FN_29_SimultaneousNegotiation) {
  // The third example of §6.5.
  Endpoint e(Role::kServer);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {3, 2}}));
  e.Start();
  EXPECT_EQ(e.Send(), "2005010302");
  ASSERT_EQ(e.ReceiveAt(1, S(0), "2205010203"), kNoReset);  // crossed: acknowledges nothing of ours
  EXPECT_EQ(e.Send(),
            "2106010303"
            "02");
  EXPECT_EQ(e.Value(kCcid), 3u);
  EXPECT_TRUE(e.n.AllStable());
  EXPECT_EQ(e.Receive("2306010302"
                      "03"),
            kNoReset);  // their Confirm finds us STABLE
  EXPECT_EQ(e.Value(kCcid), 3u);
}

TEST(FeatureConfirms, R4340_FN_28_ChangedListIsUnstableUntilSent) {
  Endpoint e = Changing(Role::kClient, {3, 2});
  ASSERT_TRUE(e.n.ChangePreference(kCcid, kLocal, {2, 3}));
  // Ignored: neither Change nor Confirm count now.
  EXPECT_EQ(e.Receive("2305010303"
                      "2205010302"),
            kNoReset);
  EXPECT_EQ(e.Send(),
            "2005010203"
            "2005050003"
            "22040701");                                    // and the others with it
  EXPECT_EQ(e.ReceiveAt(2, S(1), "2305010303"), kNoReset);  // acknowledges the old Change
  EXPECT_FALSE(e.n.stable(kCcid, kLocal));
  EXPECT_EQ(e.ReceiveAt(3, S(2), "2305010303"), kNoReset);
  EXPECT_TRUE(e.n.stable(kCcid, kLocal));
  EXPECT_EQ(e.Value(kCcid), 3u);
}

TEST(FeatureConfirms, Bug_B12_LNX_09_LatestNnValueWins) {
  Endpoint e = Open();
  ASSERT_TRUE(e.n.ChangeLocalNn(kSequenceWindow, 1000));
  EXPECT_EQ(e.Send(), "2009030000000003e8");
  ASSERT_TRUE(e.n.ChangeLocalNn(kSequenceWindow, 2000));
  EXPECT_EQ(e.Send(), "2009030000000007d0");
  // The second Change was lost, a later packet was not: the Confirm is of the first.
  EXPECT_EQ(e.ReceiveAt(1, S(2), "2309030000000003e8"), kNoReset);
  EXPECT_FALSE(e.n.AllStable());
  EXPECT_EQ(e.Value(kSequenceWindow), 100u);
  EXPECT_EQ(e.ReceiveAt(2, S(3), "2309030000000007d0"), kNoReset);
  EXPECT_TRUE(e.n.AllStable());
  EXPECT_EQ(e.Value(kSequenceWindow), 2000u);
}

TEST(FeatureConfirms, R4340_FN_27_FarBeyondAWrapOfTheSequenceSpace) {
  Endpoint e = Open();
  ASSERT_EQ(e.Receive("20040801"), kNoReset);
  e.Send();
  e.peer_seq += std::int64_t{3} << 47;
  e.sent_seq += std::int64_t{3} << 47;
  ASSERT_EQ(e.Receive("20040802"), kNoReset);
  EXPECT_EQ(e.Send(), Confirm8("23", 2, 1));
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 5));
  EXPECT_EQ(e.Send(), "2005050005");
  e.sent_seq += std::int64_t{3} << 47;
  ASSERT_EQ(e.Receive("2305050005"), kNoReset);
  EXPECT_EQ(e.Value(kAckRatio), 5u);
}

}  // namespace
}  // namespace dccp
