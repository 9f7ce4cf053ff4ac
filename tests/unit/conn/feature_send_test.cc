// When feature options go out, and the features of CCIDs. RFC 4340 §6.6.1, §6.6.3, §10, §10.3
#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::Optional;

constexpr auto kHandshake = Endpoint::Phase::kHandshake;
const auto kNoReset = std::nullopt;

TEST(FeatureSending, R4340_FN_02_FN_14_WhereOptionsMayGo) {
  Endpoint e(Role::kServer);
  e.Start();
  ASSERT_EQ(e.Receive("20040701"), kNoReset);
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 3));
  EXPECT_EQ(e.Send(PacketType::kData), "");
  EXPECT_EQ(e.Send(PacketType::kReset), "");
  EXPECT_EQ(e.Send(PacketType::kClose), "230607010100");  // no negotiation starts at the end
  EXPECT_EQ(e.Send(PacketType::kDataAck), "2005050003");
  // A Confirm needs an Acknowledgement Number.
  ASSERT_EQ(e.Receive("20040700"), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kRequest).find("23"), std::string::npos);
  EXPECT_EQ(e.Send(PacketType::kSyncAck), "230607000100");
}

TEST(FeatureSending, R4340_FN_23_ConfirmWaitsForAPacketThatAcknowledgesTheChange) {
  Endpoint e(Role::kServer);
  e.Start();
  ASSERT_EQ(e.ReceiveAt(9, S(0),
                        "20040701"
                        "20043201"),
            kNoReset);
  std::array<std::byte, 64> buffer;
  OptionWriter sync(buffer);
  e.n.WriteOptions({PacketType::kSync, S(1), R(8), e.now}, sync);
  EXPECT_EQ(sync.size(), 0u);
  EXPECT_TRUE(e.n.HasPending(e.now));
  EXPECT_EQ(e.Send(),
            "230607010100"
            "230332");
}

TEST(FeatureSending, WhatDoesNotFitWaitsForTheNextPacket) {
  Endpoint e(Role::kServer);
  e.Start();
  ASSERT_EQ(e.Receive("20040701"
                      "20040801"
                      "200903000000000400"
                      "20043201"),
            kNoReset);
  EXPECT_EQ(e.Send(PacketType::kAck, 8), "230607010100");
  EXPECT_EQ(e.Value(kSequenceWindow, kRemote), 100u);
  EXPECT_EQ(e.Send(PacketType::kAck, 12),
            "230903000000000400"
            "230332");
  EXPECT_EQ(e.Send(PacketType::kAck, 20), Confirm8("23", 1));
  EXPECT_TRUE(e.n.AllStable());
}

TEST(FeatureSending, R4340_FN_15_ChangeSenderKeepsItsValueUntilTheConfirm) {
  Endpoint e(Role::kClient);
  e.Start();
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 7));
  e.Send();
  EXPECT_EQ(e.Value(kAckRatio), 2u);
  ASSERT_EQ(e.Receive("2305050007"), kNoReset);
  EXPECT_EQ(e.Value(kAckRatio), 7u);
  const auto change = e.n.PollChange();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->value, 7u);
}

TEST(FeatureSending, R4340_FN_20_FN_25_RepeatsBackOffToAtLeast64Seconds) {
  Endpoint e(Role::kClient);
  e.n.SetRtt(milliseconds(300));
  e.Start();
  ASSERT_TRUE(e.n.ChangeLocalNn(kSequenceWindow, 1024));
  EXPECT_TRUE(e.n.HasPending(e.now));
  const std::string change = e.Send();
  Duration previous = Duration::zero();
  for (int i = 0; i < 14; ++i) {
    EXPECT_FALSE(e.n.HasPending(e.now));
    const TimePoint sent = e.now;
    const TimePoint due = e.n.NextTimeout();
    ASSERT_NE(due, kNever);
    const Duration interval = due - sent;
    EXPECT_GE(interval, i == 0 ? Duration(milliseconds(300)) : previous);
    EXPECT_LE(interval, i == 0 ? Duration(milliseconds(600)) : 2 * previous);
    previous = interval;
    e.now = due - Duration(1);
    e.n.HandleTimeout(e.now);
    EXPECT_EQ(e.Send(), "");
    e.now = due;
    e.n.HandleTimeout(e.now);
    EXPECT_TRUE(e.n.HasPending(e.now));
    EXPECT_EQ(e.Send(), change);
  }
  EXPECT_EQ(previous, FeatureNegotiator::kMaxInterval);
  ASSERT_EQ(e.Receive("230903000000000400"), kNoReset);
  EXPECT_EQ(e.n.NextTimeout(), kNever);
}

TEST(FeatureSending, R4340_FN_19_RepeatsForTenMinutesWithoutAnyAnswer) {
  Endpoint e(Role::kClient);
  e.Start();
  ASSERT_TRUE(e.n.ChangePreference(kSendNdpCount, kRemote, {1}));
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 7));
  e.Send();
  int repeats = 0;
  while (e.now < At(minutes(11))) {
    e.now = e.n.NextTimeout();
    ASSERT_NE(e.now, kNever);
    e.n.HandleTimeout(e.now);
    EXPECT_EQ(e.Send(),
              "2005050007"
              "22040701");
    ++repeats;
  }
  EXPECT_GE(repeats, 15);
}

TEST(FeatureSending, R4340_LNX_08_GivesUpOnAPeerThatAcknowledgesAndNeverAnswers) {
  Endpoint e(Role::kClient);
  e.Start();
  ASSERT_TRUE(e.n.ChangePreference(kSendNdpCount, kRemote, {1}));
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 7));
  const TimePoint start = e.now;
  e.Send();
  while (!e.n.stable(kSendNdpCount, kRemote)) {
    ASSERT_EQ(e.Receive(""), kNoReset);  // acknowledges
    e.now = e.n.NextTimeout();
    ASSERT_LT(e.now, start + minutes(10));
    e.n.HandleTimeout(e.now);
    e.Send();
  }
  EXPECT_GE(e.now - start, FeatureNegotiator::kDefaultPatience);
  const auto change = e.n.PollChange();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->outcome, FeatureOutcome::kGivenUp);
  EXPECT_EQ(change->value, 0u);
  EXPECT_FALSE(e.n.stable(kAckRatio, kLocal));  // a non-negotiable one is never given up
  EXPECT_NE(e.n.NextTimeout(), kNever);
}

TEST(FeatureSending, R4340_FN_17_AcknowledgedWithoutConfirmRepeatsEarlyOnce) {
  Endpoint e(Role::kClient);
  e.n.SetRtt(milliseconds(50));
  e.Start();
  ASSERT_TRUE(e.n.ChangeLocalNn(kAckRatio, 7));
  const std::string change = e.Send();
  e.now += milliseconds(20);
  ASSERT_EQ(e.Receive(""), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kDataAck), "");  // not within a round trip
  e.now += milliseconds(30);
  EXPECT_FALSE(e.n.HasPending(e.now));  // nor is it worth a packet of its own
  EXPECT_EQ(e.Send(PacketType::kDataAck), change);
  ASSERT_EQ(e.Receive(""), kNoReset);
  e.now += milliseconds(60);
  EXPECT_EQ(e.Send(PacketType::kDataAck), "");
}

TEST(FeatureSending, R4340_FN_13_OnePacketOfItsOwnPerRoundTrip) {
  Endpoint e(Role::kServer);
  e.n.SetRtt(milliseconds(100));
  e.Start();
  ASSERT_EQ(e.Receive("20040701"), kNoReset);
  EXPECT_TRUE(e.n.HasPending(e.now));
  e.Send();
  ASSERT_EQ(e.Receive("20040700"), kNoReset);
  EXPECT_FALSE(e.n.HasPending(e.now));
  EXPECT_EQ(e.n.NextTimeout(), e.now + milliseconds(100));
  e.now += milliseconds(100);
  e.n.HandleTimeout(e.now);
  EXPECT_TRUE(e.n.HasPending(e.now));
  EXPECT_EQ(e.n.NextTimeout(), kNever);  // it is said once; HasPending goes on saying it
  EXPECT_EQ(e.Send(), "230607000100");
  EXPECT_FALSE(e.n.HasPending(e.now));
}

// ------------------------------------------------------------------------------------ handshake

TEST(FeatureSending, R4340_FN_12_FN_25_EveryRequestCarriesTheSameChanges) {
  Endpoint e(Role::kClient);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {3, 2}}));
  ASSERT_TRUE(e.n.Configure({kEcnIncapable, kLocal, {1}, 0, true}));
  e.Start(kHandshake);
  const std::string first = e.Send(PacketType::kRequest);
  EXPECT_EQ(first,
            "2005010302"
            "0120040401");
  EXPECT_EQ(e.Send(PacketType::kRequest), first);
  EXPECT_EQ(e.n.NextTimeout(), kNever);  // Requests have their own timer
  // A Response to the first Request is as good as one to the second: FGSS is the first's number.
  ASSERT_EQ(e.ReceiveAt(1, S(1),
                        "2306010202"
                        "03"
                        "2305040101",
                        PacketType::kResponse),
            kNoReset);
  EXPECT_TRUE(e.n.AllStable());
}

TEST(FeatureSending, R4340_LNX_04_EveryResponseRepeatsTheConfirms) {
  Endpoint e(Role::kServer);
  e.Start(kHandshake);
  ASSERT_EQ(e.Receive("20040102"
                      "0120040200"
                      "0120040401"
                      "20043201",
                      PacketType::kRequest),
            kNoReset);
  const std::string first = e.Send(PacketType::kResponse);
  EXPECT_EQ(first,
            "2306010202"
            "03"
            "230602000001"
            "230604010100"
            "230332");
  EXPECT_EQ(e.Send(PacketType::kResponse), first);
  EXPECT_EQ(e.Value(kEcnIncapable, kRemote), 1u);
}

TEST(FeatureSending, ResponseRepeatsNoAnswerThatANewerRequestReplaced) {
  Endpoint e(Role::kServer);
  e.Start(kHandshake);
  ASSERT_EQ(e.Receive("200307", PacketType::kRequest), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kResponse), "230307");
  ASSERT_EQ(e.Receive("20040701", PacketType::kRequest), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kResponse), "230607010100");
  ASSERT_EQ(e.Receive("200307", PacketType::kRequest), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kResponse), "230307");
}

TEST(FeatureSending, R4340_LNX_05_PartOpenRepeatsTheConfirmsUntilOpen) {
  Endpoint e(Role::kClient);
  e.Start(kHandshake);
  e.Send(PacketType::kRequest);
  ASSERT_EQ(e.Receive("0122040601"
                      "0120040601",
                      PacketType::kResponse),
            kNoReset);
  const std::string confirms =
      "210606010100"
      "230606010100";
  EXPECT_EQ(e.Send(PacketType::kAck), confirms);
  EXPECT_EQ(e.Send(PacketType::kDataAck), confirms);
  EXPECT_EQ(e.Send(PacketType::kClose), confirms);
  e.n.SetOpen(e.now);
  EXPECT_EQ(e.Send(PacketType::kAck), "");
}

TEST(FeatureSending, UnansweredChangesOfTheHandshakeGetATimerOnOpening) {
  Endpoint e(Role::kServer);
  ASSERT_TRUE(e.n.Configure({kSendNdpCount, kRemote, {1}}));
  e.Start(kHandshake);
  EXPECT_EQ(e.Send(PacketType::kResponse), "22040701");
  EXPECT_EQ(e.n.NextTimeout(), kNever);
  e.n.SetOpen(e.now);
  const TimePoint due = e.n.NextTimeout();
  EXPECT_EQ(due, e.now + kDefaultRtt);
  e.now = due;
  e.n.HandleTimeout(due);
  EXPECT_TRUE(e.n.HasPending(due));
  EXPECT_EQ(e.Send(), "22040701");
}

// ---------------------------------------------------------------------------------------- CCIDs

TEST(FeatureCcids, R4340_FT_03_ListWithout2IsMandatory) {
  for (Role role : {Role::kClient, Role::kServer}) {
    FeatureNegotiator n(role);
    ASSERT_TRUE(n.RegisterCcid(CcidId::k3, kCcid3Needs));
    n.Start(S(0));
    std::array<std::byte, 100> buffer;
    OptionWriter writer(buffer);
    n.WriteOptions({PacketType::kRequest, S(1), std::nullopt, At(seconds(1))}, writer);
    // CCID 3 at both ends and, after a Mandatory single value, what it needs. §10.3
    EXPECT_THAT(FeatureOptions(writer.bytes()),
                ElementsAre("0120040103", "0122040103", "2005050000", "0120040701", "0122040701",
                            "012204c001", "012004c001"));
  }
}

TEST(FeatureCcids, R4340_FN_39_NoCcidSpecificFeaturesWhileTheCcidIsOpen) {
  Endpoint e(Role::kClient, Needs::kReal);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {3, 2}}));
  ASSERT_TRUE(e.n.Configure({kCcid, kRemote, {3, 2}}));
  e.Start(kHandshake);
  EXPECT_EQ(e.Send(PacketType::kRequest),
            "2005010302"
            "2205010302");
  // The Response decides; what the server left open is proposed at once.
  ASSERT_EQ(e.Receive("2306010303"
                      "02"
                      "2106010202"
                      "03",
                      PacketType::kResponse),
            kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send())),
              ElementsAre("2005050000", "0120040601", "0120040701", "012204c001"));
}

TEST(FeatureCcids, Bug_B15_ServerAddsWhatTheChosenCcidNeedsToTheResponse) {
  Endpoint e(Role::kServer, Needs::kReal);
  e.Start(kHandshake);
  ASSERT_EQ(e.Receive("2005010302"
                      "22040102",
                      PacketType::kRequest),
            kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send(PacketType::kResponse))),
              ElementsAre("2106010202"
                          "03",
                          "2306010202"
                          "03",
                          "0120040601", "0122040601"));
}

TEST(FeatureCcids, NeedsThatTheClientProposedAreOnlyConfirmed) {
  Endpoint e(Role::kServer, Needs::kReal);
  e.Start(kHandshake);
  ASSERT_EQ(e.Receive("20040102"
                      "22040102"
                      "0120040601"
                      "0122040601",
                      PacketType::kRequest),
            kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send(PacketType::kResponse))),
              ElementsAre("2106010202"
                          "03",
                          "2306010202"
                          "03",
                          "2105060101", "2305060101"));
}

TEST(FeatureCcids, NeedsCorrectAnAnswerThatWasNotSentYet) {
  Endpoint e(Role::kServer, Needs::kReal);
  e.Start(kHandshake);
  // Change L(Send Ack Vector, 0 1): the first would do, but CCID 2 needs 1.
  ASSERT_EQ(e.Receive("2005060001", PacketType::kRequest), kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send(PacketType::kResponse))),
              ElementsAre("0120040601", "2305060101"));
}

TEST(FeatureCcids, CcidSpecificFeatureIsKnownWithItsCcidOnly) {
  {  // CCID 2 on both half-connections.
    Endpoint e(Role::kServer, Needs::kReal);
    ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {2}, 0, false, false}));
    ASSERT_TRUE(e.n.Configure({kCcid, kRemote, {2}, 0, false, false}));
    e.Start();
    EXPECT_THAT(e.Receive("0120"
                          "04c001"),
                Optional(Reset(ResetCode::kMandatoryError, 32, 192, 1)));
  }
  {  // CCID 3 from the peer to us, chosen earlier in the same packet: 192 lies at us.
    Endpoint e(Role::kServer, Needs::kReal);
    e.Start(kHandshake);
    EXPECT_EQ(e.Receive("20040103"
                        "0122"
                        "04c001",
                        PacketType::kRequest),
              kNoReset);
    EXPECT_THAT(FeatureOptions(FromHex(e.Send(PacketType::kResponse))),
                testing::Contains("2105c00101"));
    EXPECT_EQ(e.Value(kSendLossEventRate, kLocal), 1u);
    EXPECT_EQ(e.Value(kSendLossEventRate, kRemote), 0u);
  }
  {  // The same, but at the peer, where CCID 2 asks for nothing of the kind.
    Endpoint e(Role::kServer, Needs::kReal);
    e.Start(kHandshake);
    EXPECT_THAT(e.Receive("20040103"
                          "0120"
                          "04c001",
                          PacketType::kRequest),
                Optional(Reset(ResetCode::kMandatoryError, 32, 192, 1)));
  }
}

TEST(FeatureCcids, R4340_FT_05_ServerWithoutCcid2UnderstandsNoneOfItsFeatures) {
  FeatureNegotiator n(Role::kServer);
  ASSERT_TRUE(n.RegisterCcid(CcidId::k3, {}));
  n.Start(S(0));
  n.OnPeerInitial(R(0));
  const auto plain = FromHex(
      "2004c001"
      "22048001");
  EXPECT_EQ(Feed(n, {PacketType::kRequest, R(0), std::nullopt}, plain), kNoReset);
  std::array<std::byte, 100> buffer;
  OptionWriter writer(buffer);
  n.WriteOptions({PacketType::kResponse, S(1), R(0), At(seconds(1))}, writer);
  EXPECT_THAT(FeatureOptions(writer.bytes()),
              ElementsAre("0120040103", "0122040103", "210380", "2303c0"));
  const auto mandatory = FromHex(
      "01"
      "2004c001");
  EXPECT_THAT(Feed(n, {PacketType::kRequest, R(1), std::nullopt}, mandatory),
              Optional(Reset(ResetCode::kMandatoryError, 32, 192, 1)));
}

TEST(FeatureCcids, R4340_FT_03_ServerDemandsItsCcidOfASilentClient) {
  Endpoint e(Role::kServer);
  ASSERT_TRUE(e.n.Configure({kCcid, kRemote, {3}, 0, false, false}));
  e.Start(kHandshake);
  ASSERT_EQ(e.Receive("20040102", PacketType::kRequest), kNoReset);
  EXPECT_EQ(e.Send(PacketType::kResponse),
            "2305010203"
            "0122040103");
}

TEST(FeatureCcids, R4340_FT_06_AnotherCcidForgetsTheFeaturesOfTheFirst) {
  Endpoint e(Role::kServer, Needs::kReal);
  e.Start(kHandshake);
  const std::string request =
      "20040103"
      "0122"
      "04c001";
  ASSERT_EQ(e.Receive(request, PacketType::kRequest), kNoReset);
  e.Send(PacketType::kResponse);
  e.n.SetOpen(e.now);
  ASSERT_EQ(e.Value(kSendLossEventRate, kLocal), 1u);
  // The peer's data goes by CCID 2 from now on, which has no feature 192 at us.
  ASSERT_EQ(e.Receive("20040102"), kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send())), testing::Contains("230601020203"));
  EXPECT_EQ(e.Value(kSendLossEventRate, kLocal), 0u);
  ASSERT_EQ(e.Receive("2204c001"), kNoReset);
  EXPECT_EQ(e.Send(), "2103c0");
  // And back: it is negotiated anew.
  ASSERT_EQ(e.Receive("20040103"), kNoReset);
  EXPECT_THAT(FeatureOptions(FromHex(e.Send())), testing::Contains("012004c001"));
}

TEST(FeatureCcids, ConfigureRejectsWhatItCannotStandFor) {
  Endpoint e(Role::kClient);
  EXPECT_FALSE(e.n.Configure({kCcid, kLocal, {4}}));
  EXPECT_FALSE(e.n.Configure({kSendNdpCount, kLocal, {2}}));
  EXPECT_FALSE(e.n.Configure({kSendNdpCount, kLocal, {}}));
  EXPECT_FALSE(e.n.Configure({kSequenceWindow, kLocal, {}, 31}));
  EXPECT_FALSE(e.n.Configure({FeatureNumber{50}, kLocal, {1}}));
  EXPECT_FALSE(e.n.ChangeLocalNn(kSequenceWindow, std::uint64_t{1} << 46));
  EXPECT_FALSE(e.n.ChangeLocalNn(kCcid, 2));
  EXPECT_TRUE(e.n.AllStable());
}

TEST(FeatureCcids, MandatoryNeedThatIsNotMetResets) {
  for (const char* answer : {"2105060000", "210306"}) {
    Endpoint e(Role::kClient, Needs::kReal);
    ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {2}}));
    e.Start(kHandshake);
    EXPECT_EQ(e.Send(PacketType::kRequest),
              "20040102"
              "0122040601");
    EXPECT_TRUE(e.Receive(answer, PacketType::kResponse).has_value()) << answer;
  }
}

}  // namespace
}  // namespace dccp
