#include "stack/conn/sent_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/conn/sent_history_util.h"

namespace dccp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AckState kGot = AckState::kReceived;
constexpr AckState kCe = AckState::kMarked;
constexpr AckState kNot = AckState::kNotReceived;
constexpr AckState kReserved = AckState::kReserved;
using std::chrono::milliseconds;

MATCHER_P3(IsRun, first, packets, fate, "") {
  return arg.first == Seq64(first) && arg.packets == static_cast<std::uint32_t>(packets) &&
         arg.fate == fate;
}

TEST(SentHistory, EverythingReceivedIsOneRun) {
  Sender s(1000);
  s.Send(10);
  EXPECT_EQ(s.history().in_flight_data_packets(), 10u);
  const Digest d = s.Ack(1009, {{kGot, 10}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(1000, 10, Fate::kReceived)));
  EXPECT_EQ(d.runs[0].data_bytes, 1000u);
  EXPECT_EQ(d.runs[0].sent_last - d.runs[0].sent_first, milliseconds(9));
  EXPECT_EQ(d.received_data_packets, 10u);
  EXPECT_EQ(d.received_data_bytes, 1000u);
  EXPECT_EQ(d.in_flight_data_packets, 0u);
  EXPECT_EQ(d.newly_acked_packets, 10u);
  EXPECT_EQ(s.history().greatest_acked(), Seq64(1009));
}

TEST(SentHistory, R4340_AV_01_ReadsTheExampleVector) {
  Sender s(80);
  s.Send(21);
  const std::array<std::byte, 5> cells = {std::byte{0}, std::byte{192}, std::byte{3}, std::byte{64},
                                          std::byte{5}};
  const AckVectorOption option = {cells, false};
  const Digest d = s.history().OnAck({Seq64(100), s.now(), {}, {&option, 1}});
  // What no vector covers, 80-87, counts as not received; three later ones make it lost.
  EXPECT_THAT(d.runs, ElementsAre(IsRun(80, 8, Fate::kLost), IsRun(88, 6, Fate::kReceived),
                                  IsRun(94, 1, Fate::kMarked), IsRun(95, 4, Fate::kReceived),
                                  IsRun(100, 1, Fate::kReceived)));
  EXPECT_EQ(d.marked_data_packets, 1u);
  EXPECT_EQ(d.in_flight_data_packets, 1u);
}

TEST(SentHistory, R4340_AV_03_OptionsContinueEachOther) {
  Sender s(0);
  s.Send(10);
  const auto first = EncodeVector({{kGot, 2}, {kNot, 1}});
  const auto second = EncodeVector({{kNot, 1}, {kGot, 6}});
  const std::array<AckVectorOption, 2> options = {{{first, false}, {second, false}}};
  const Digest d = s.history().OnAck({Seq64(9), s.now(), {}, options});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 6, Fate::kReceived), IsRun(8, 2, Fate::kReceived)));
}

TEST(SentHistory, R4340_AV_05_ThePacketOfTheAcknowledgementNumberArrived) {
  Sender s(0);
  s.Send(3);
  const Digest d = s.Ack(2, {{kNot, 3}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(2, 1, Fate::kReceived)));
}

TEST(SentHistory, R4340_AV_07_VectorBelowTheFirstNumberIsIgnored) {
  Sender s(500);
  s.Send(3);
  const Digest bad = s.Ack(502, {{kGot, 4}});
  EXPECT_TRUE(bad.invalid_vector);
  EXPECT_THAT(bad.runs, ElementsAre(IsRun(502, 1, Fate::kReceived)));
  const Digest good = s.Ack(502, {{kGot, 3}});
  EXPECT_FALSE(good.invalid_vector);
  EXPECT_THAT(good.runs, ElementsAre(IsRun(500, 2, Fate::kReceived)));
}

TEST(SentHistory, AcknowledgementOfAPacketNeverSentIsIgnored) {
  Sender s(500);
  EXPECT_TRUE(s.Ack(500).invalid_ackno);
  s.Send(3);
  EXPECT_TRUE(s.Ack(503, {{kGot, 4}}).invalid_ackno);
  EXPECT_TRUE(s.Ack(499).invalid_ackno);
  EXPECT_EQ(s.history().in_flight_data_packets(), 3u);
}

TEST(SentHistory, R4340_AV_08_UncoveredPacketsStayUndecided) {
  Sender s(0);
  s.Send(4);
  const Digest d = s.Ack(3, {{kGot, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(3, 1, Fate::kReceived)));
  EXPECT_EQ(d.in_flight_data_packets, 3u);
}

TEST(SentHistory, R4340_AV_09_ReservedStateTellsNothing) {
  Sender s(0);
  s.Send(4);
  const Digest d = s.Ack(3, {{kGot, 1}, {kReserved, 2}, {kGot, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 1, Fate::kReceived), IsRun(3, 1, Fate::kReceived)));
  EXPECT_EQ(d.in_flight_data_packets, 2u);
}

// The nine cells of RFC 4340 §11.4.1, on packet 0: an old report, a new one, what a third report
// then finds. A later "received" shows whether it was marked: only a new arrival makes a run.
TEST(SentHistory, R4340_AV_10_SenderMergeTable) {
  struct Row {
    AckState old_state, reported;
    bool first_decides, second_decides;
  };
  const std::array<Row, 9> rows = {{{kGot, kGot, true, false},
                                    {kGot, kCe, true, false},
                                    {kGot, kNot, true, false},
                                    {kCe, kGot, true, false},
                                    {kCe, kCe, true, false},
                                    {kCe, kNot, true, false},
                                    {kNot, kGot, false, true},
                                    {kNot, kCe, false, true},
                                    {kNot, kNot, false, false}}};
  for (const Row& row : rows) {
    Sender s(0);
    s.Send(2);
    const Digest first = s.Ack(1, {{kGot, 1}, {row.old_state, 1}});
    EXPECT_EQ(first.received_data_packets + first.marked_data_packets, row.first_decides ? 2u : 1u);
    const Digest second = s.Ack(1, {{kGot, 1}, {row.reported, 1}});
    EXPECT_EQ(second.runs.size(), row.second_decides ? 1u : 0u);
    EXPECT_EQ(second.marked_data_packets, row.second_decides && row.reported == kCe ? 1u : 0u);
    EXPECT_EQ(s.history().IsAcked(Seq64(0)), row.first_decides || row.second_decides);
  }
}

TEST(SentHistory, R4340_AV_12_ForgottenPacketsAreIgnored) {
  Sender s(0);
  for (int i = 0; i < 20; ++i) {
    s.Send(50);
    s.Ack(s.next() - 1, {{kGot, 40}, {kNot, 10}});
  }
  ASSERT_FALSE(s.history().SentTime(Seq64(0)).has_value());
  const Digest d = s.Ack(s.next() - 1, {{kGot, 1000}});
  EXPECT_FALSE(d.invalid_vector);
  for (const FateRun& run : d.runs) {
    EXPECT_EQ(run.fate, Fate::kLate);
    EXPECT_TRUE(s.history().SentTime(run.first).has_value());
  }
}

TEST(SentHistory, R4341_CWND_05_ThreeLaterPacketsOfAnyTypeMakeALoss) {
  Sender s(10);
  s.Send(1);                    // 10: lost
  s.Send(1, PacketType::kAck);  // 11
  s.Send(2);                    // 12, 13
  EXPECT_THAT(s.Ack(11, {{kGot, 1}, {kNot, 1}}).runs, ElementsAre(IsRun(11, 1, Fate::kReceived)));
  EXPECT_EQ(s.Ack(12, {{kGot, 2}, {kNot, 1}}).lost_data_packets, 0u);
  const Digest d = s.Ack(13, {{kCe, 1}, {kGot, 2}, {kNot, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(10, 1, Fate::kLost), IsRun(13, 1, Fate::kMarked)));
  EXPECT_EQ(d.lost_data_packets, 1u);
  EXPECT_EQ(d.in_flight_data_packets, 0u);
}

TEST(SentHistory, R4341_CWND_05_LossCountsOnlyWhatWasSentLater) {
  Sender s(0);
  s.Send(6);
  const Digest d = s.Ack(5, {{kGot, 2}, {kNot, 1}, {kGot, 2}, {kNot, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 1, Fate::kLost), IsRun(1, 2, Fate::kReceived),
                                  IsRun(4, 2, Fate::kReceived)));
  EXPECT_EQ(d.in_flight_data_packets, 1u);
}

TEST(SentHistory, R4341_CWND_06_DuplicateReportsDecideNothing) {
  Sender s(0);
  s.Send(5);
  s.Ack(4, {{kGot, 3}, {kNot, 2}});
  EXPECT_THAT(s.Ack(4, {{kGot, 3}, {kNot, 2}}).runs, IsEmpty());
}

TEST(SentHistory, R4341_CWND_06_LostPacketThatArrivesIsLate) {
  Sender s(0);
  s.Send(5);
  EXPECT_EQ(s.Ack(4, {{kGot, 3}, {kNot, 2}}).lost_data_packets, 2u);
  const Digest d = s.Ack(4, {{kGot, 4}, {kCe, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 2, Fate::kLate)));
  EXPECT_EQ(d.received_data_packets + d.marked_data_packets, 0u);
  EXPECT_EQ(d.in_flight_data_packets, 0u);
  EXPECT_THAT(s.Ack(4, {{kGot, 5}}).runs, IsEmpty());
}

TEST(SentHistory, Bug_D17_AbandonedPacketsLeaveThePipeAtOnceAndNeverAgain) {
  Sender s(0);
  s.Send(5);
  s.history().AbandonInFlight();
  EXPECT_EQ(s.history().in_flight_data_packets(), 0u);
  s.Send(3);
  const Digest d = s.Ack(7, {{kGot, 6}, {kNot, 2}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(2, 3, Fate::kLate), IsRun(5, 3, Fate::kReceived)));
  EXPECT_EQ(d.lost_data_packets, 0u);
  EXPECT_EQ(d.in_flight_data_packets, 0u);
}

TEST(SentHistory, R4341_CWND_07_NonDataPacketsAreNotInFlight) {
  Sender s(0);
  s.Send(3, PacketType::kAck);
  EXPECT_EQ(s.history().in_flight_data_packets(), 0u);
  s.Send(2);
  const Digest d = s.Ack(4, {{kGot, 5}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 5, Fate::kReceived)));
  EXPECT_EQ(d.runs[0].data_packets, 2u);
  EXPECT_EQ(d.received_data_packets, 2u);
}

TEST(SentHistory, R5348_SND_03_Bug_D11_OneRttSampleFromTheAcknowledgedPacketLessElapsedTime) {
  Sender s(0);
  s.Send(10);
  s.Wait(milliseconds(50));
  s.set_elapsed(milliseconds(20));
  EXPECT_EQ(s.Ack(9, {{kGot, 10}}).rtt, milliseconds(51 - 20));
  EXPECT_FALSE(s.Ack(9, {{kGot, 10}}).rtt.has_value());
}

TEST(SentHistory, NoRttSampleWhenTheElapsedTimeIsLongerThanTheRoundTrip) {
  Sender s(0);
  s.Send(1);
  s.set_elapsed(milliseconds(500));
  EXPECT_FALSE(s.Ack(0, {{kGot, 1}}).rtt.has_value());
}

TEST(SentHistory, TellsWhichOfOurAcksWereAcknowledged) {
  Sender s(0);
  s.Send(2);
  s.Send(2, PacketType::kAck);  // 2, 3
  s.Send(3);
  EXPECT_EQ(s.Ack(1, {{kGot, 2}}).newest_acked_ack, std::nullopt);
  EXPECT_EQ(s.Ack(5, {{kGot, 2}, {kNot, 1}, {kGot, 3}}).newest_acked_ack, Seq64(2));
  EXPECT_EQ(s.Ack(6, {{kGot, 3}, {kNot, 1}, {kGot, 3}}).newest_acked_ack, std::nullopt);
  EXPECT_EQ(s.Ack(6, {{kGot, 7}}).newest_acked_ack, Seq64(3));
}

TEST(SentHistory, R4340_AV_15_ChecksTheNonceEcho) {
  Sender s(0);
  SentPacket packet;
  packet.data = true;
  for (const bool nonce : {true, false, true, true}) {
    packet.nonce = nonce;
    s.SendPacket(packet);
  }
  EXPECT_EQ(s.Ack(1, {{kGot, 2}}, true).nonce, NonceVerdict::kMatch);
  EXPECT_EQ(s.Ack(1, {{kGot, 2}}, false).nonce, NonceVerdict::kMismatch);
  EXPECT_EQ(s.Ack(3, {{kGot, 1}, {kCe, 1}, {kGot, 2}}, false).nonce, NonceVerdict::kMatch);
  EXPECT_EQ(s.Ack(3, {{kGot, 1}, {kNot, 1}, {kGot, 2}}, true).nonce, NonceVerdict::kMismatch);
  EXPECT_EQ(s.Ack(3).nonce, NonceVerdict::kUnknown);
}

TEST(SentHistory, R4340_AV_16_EachOptionIsCheckedAsFarAsItsPacketsAreKnown) {
  Sender s(0);
  SentPacket packet;
  packet.data = true;
  packet.nonce = true;
  for (int i = 0; i < 400; ++i) {
    s.SendPacket(packet);
    if (i % 10 == 0) s.Ack(i, {{kGot, 1}}, true);
  }
  ASSERT_FALSE(s.history().SentTime(Seq64(0)));
  const auto newer = EncodeVector({{kGot, 3}});
  const auto older = EncodeVector({{kGot, 397}});
  const auto check = [&](bool newer_echo, bool older_echo) {
    const std::array<AckVectorOption, 2> options = {{{newer, newer_echo}, {older, older_echo}}};
    return s.history().OnAck({Seq64(399), s.now(), {}, options});
  };
  EXPECT_EQ(check(true, true).nonce, NonceVerdict::kMatch);
  EXPECT_EQ(check(true, false).nonce, NonceVerdict::kMatch);
  EXPECT_EQ(check(true, false).right_ones, 1u);
  EXPECT_EQ(check(false, true).nonce, NonceVerdict::kMismatch);
  EXPECT_EQ(s.Ack(399, {{kGot, 400}}, true).nonce, NonceVerdict::kUnknown);
}

TEST(SentHistory, R4340_ECN_05_WithoutNoncesAnEchoProvesNothing) {
  Sender s(0);
  s.Send(4);
  EXPECT_EQ(s.Ack(3, {{kGot, 4}}, true).nonce, NonceVerdict::kUnknown);
  EXPECT_EQ(s.Ack(3, {{kGot, 4}}, false).nonce, NonceVerdict::kUnknown);
}

TEST(SentHistory, R4340_AGG_02_TellsTheAgeThatElapsedTimeMustNotExceed) {
  Sender s(0);
  s.Send(1);
  s.Wait(milliseconds(99));
  s.set_elapsed(std::chrono::seconds(1));
  const Digest first = s.Ack(0, {{kGot, 1}});
  EXPECT_EQ(first.age, milliseconds(100));
  EXPECT_EQ(first.rtt, std::nullopt);
  EXPECT_EQ(s.Ack(0, {{kGot, 1}}).age, std::nullopt);
}

TEST(SentHistory, NumberOnlyAcksForgetWhatWasSentBefore) {
  Sender s(0);
  s.history().set_coverage(AckCoverage::kNumberOnly);
  s.Send(10);
  const Digest d = s.Ack(6);
  EXPECT_THAT(d.runs, ElementsAre(IsRun(6, 1, Fate::kReceived)));
  EXPECT_EQ(d.in_flight_data_packets, 3u);
  EXPECT_EQ(d.lost_data_packets, 0u);
  EXPECT_EQ(d.rtt, milliseconds(4));
  EXPECT_THAT(s.Ack(5).runs, IsEmpty());
  EXPECT_EQ(s.history().in_flight_data_packets(), 3u);
}

TEST(SentHistory, RateSampleOfASteadyStream) {
  Sender s(0);
  s.Send(20);  // one a millisecond, 100 bytes each
  s.Ack(9, {{kGot, 10}});
  s.Send(10);
  const Digest d = s.Ack(29, {{kGot, 30}});
  // 10 were delivered when packet 29 left: 20 since. They arrived within 10 ms, but it took 20 ms
  // to send them, from packet 9 on.
  EXPECT_EQ(d.rate.delivered_packets, 20u);
  EXPECT_EQ(d.rate.delivered_bytes, 2000u);
  EXPECT_EQ(d.rate.interval, milliseconds(20));
  EXPECT_FALSE(d.rate.app_limited);
}

TEST(SentHistory, RateSampleKnowsApplicationLimitedTime) {
  Sender s(0);
  SentPacket last;
  last.data = true;
  last.app_limited = true;
  s.SendPacket(last);
  s.Send(1);
  EXPECT_FALSE(s.Ack(0, {{kGot, 1}}).rate.app_limited);
  EXPECT_TRUE(s.Ack(1, {{kGot, 2}}).rate.app_limited);
  s.Send(1);
  EXPECT_FALSE(s.Ack(2, {{kGot, 3}}).rate.app_limited);
}

TEST(SentHistory, NoRateSampleWithoutNewlyAcknowledgedData) {
  Sender s(0);
  s.Send(2);
  s.Ack(1, {{kGot, 2}});
  EXPECT_EQ(s.Ack(1, {{kGot, 2}}).rate.interval, Duration::zero());
  s.Send(1, PacketType::kAck);
  EXPECT_EQ(s.Ack(2, {{kGot, 3}}).rate.interval, Duration::zero());
}

TEST(SentHistory, GrowsForDataInFlightAndKeepsIt) {
  Sender s(0);
  s.Send(5000);
  EXPECT_EQ(s.history().capacity(), 8192u);
  const Digest d = s.Ack(4999, {{kGot, 5000}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 5000, Fate::kReceived)));
  EXPECT_EQ(d.runs[0].data_bytes, 500'000u);
}

TEST(SentHistory, AcksThatNobodyAcknowledgesDoNotMakeItGrow) {
  Sender s(0);
  s.Send(100'000, PacketType::kAck);
  EXPECT_EQ(s.history().capacity(), 128u);
  EXPECT_THAT(s.Ack(99'999, {{kGot, 1}}).newly_acked_packets, 1u);
}

TEST(SentHistory, DataPushedOutOfAFullHistoryIsLost) {
  Sender s(0);
  const auto most = static_cast<std::int64_t>(SentHistory::kMaxPackets);
  s.Send(most + 10);
  EXPECT_EQ(s.history().in_flight_data_packets(), SentHistory::kMaxPackets);
  const Digest d = s.Ack(most + 9, {{kGot, 1}});
  EXPECT_THAT(d.runs, ElementsAre(IsRun(0, 10, Fate::kLost), IsRun(most + 9, 1, Fate::kReceived)));
  EXPECT_EQ(d.lost_data_packets, 10u);
}

TEST(SentHistory, RepeatedVectorsCostTheirCellsNotTheirPackets) {
  Sender s(0);
  s.Send(100'000);
  s.Ack(99'999, {{kGot, 50'000}, {kNot, 1}, {kGot, 49'999}});
  const std::uint64_t before = s.history().steps();
  s.Ack(99'999, {{kGot, 50'000}, {kNot, 1}, {kGot, 49'999}});
  EXPECT_LT(s.history().steps() - before, 20u);
}

TEST(SentHistory, NewAcksAreNotChargedForOldLosses) {
  Sender s(0);
  for (int i = 0; i < 1000; ++i) {
    s.Send(10);
    s.Ack(s.next() - 1, {{kGot, 9}, {kNot, 1}});
  }
  const std::uint64_t before = s.history().steps();
  s.Send(2);
  s.Ack(s.next() - 1, {{kGot, 2}});
  EXPECT_LT(s.history().steps() - before, 12u);
  EXPECT_LE(s.history().runs(), 64u);
}

}  // namespace
}  // namespace dccp
