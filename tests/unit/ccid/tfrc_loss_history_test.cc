#include "ccid/tfrc/loss_history.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

namespace dccp::tfrc {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

// Packets numbered from 0, one a millisecond, with a window counter each 10 ms unless told.
class History {
 public:
  explicit History(EventRule rule = {}) : rule_(rule), history_(Seq64(0)) {}

  LossHistory::Outcome Get(std::int64_t seq) { return Put(Packet(seq)); }
  LossHistory::Outcome Put(const ArrivedPacket& packet) {
    const auto outcome = history_.OnArrival(packet, rule_);
    events_ += outcome.new_events;
    return outcome;
  }
  void GetAll(std::int64_t from, std::int64_t to) {
    for (std::int64_t seq = from; seq <= to; ++seq) Get(seq);
  }
  ArrivedPacket Packet(std::int64_t seq) const {
    ArrivedPacket packet;
    packet.seq = Seq64(seq);
    packet.time = kStart + milliseconds(seq);
    packet.ccval = static_cast<std::uint8_t>((seq / 10) & 15);
    packet.data = true;
    return packet;
  }
  std::vector<LossInterval> Intervals() const {
    std::array<LossInterval, LossHistory::kMaxIntervals> out;
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(history_.Intervals(out))};
  }
  LossHistory& operator*() { return history_; }
  std::uint32_t events() const { return events_; }

 private:
  EventRule rule_;
  LossHistory history_;
  std::uint32_t events_ = 0;
};

TEST(LossHistory, R5348_LOSS_01_LostOnceThreeLaterPacketsCame) {
  History h;
  h.GetAll(0, 9);
  h.GetAll(11, 12);
  EXPECT_EQ(h.events(), 0u);
  EXPECT_EQ(h.Get(13).new_events, 1u);
}

TEST(LossHistory, R5348_LOSS_01_ReorderingByTwoIsNoLoss) {
  History h;
  h.GetAll(0, 9);
  for (std::int64_t seq : {11, 12, 10, 13, 14, 15, 16}) h.Get(seq);
  EXPECT_EQ(h.events(), 0u);
  EXPECT_EQ(h.Intervals().size(), 1u);
}

TEST(LossHistory, R5348_LOSS_01_ALatePacketTakesItsEventBack) {
  History h;
  h.GetAll(0, 9);
  h.GetAll(11, 20);
  ASSERT_TRUE((*h).any_loss());
  EXPECT_TRUE(h.Get(10).removed_event);
  EXPECT_FALSE((*h).any_loss());
  EXPECT_FALSE(h.Get(10).removed_event);  // only once
  EXPECT_EQ(h.Intervals().at(0).lossless, 21u);
}

TEST(LossHistory, R5348_LOSS_01_ALatePacketMayLeaveAShorterLossyPart) {
  History h;
  h.GetAll(0, 9);
  h.GetAll(13, 20);
  ASSERT_EQ(h.Intervals().at(0).lossy, 3u);
  EXPECT_FALSE(h.Get(10).removed_event);
  EXPECT_EQ(h.Intervals().at(0).lossy, 2u);
  h.Get(12);
  EXPECT_EQ(h.Intervals().at(0).lossy, 1u);
  EXPECT_EQ(h.Intervals().at(0).lossless, 9u);
  EXPECT_TRUE(h.Get(11).removed_event);
}

TEST(LossHistory, R5348_LOSS_02_AMarkIsAnEventAtOnce) {
  History h;
  h.GetAll(0, 9);
  ArrivedPacket marked = h.Packet(10);
  marked.marked = true;
  EXPECT_EQ(h.Put(marked).new_events, 1u);
  EXPECT_EQ(h.Intervals().at(0).lossy, 1u);
}

TEST(LossHistory, R5348_LOSS_02_TheEventBeginsWithTheLostPacketBeforeTheMark) {
  History h;
  h.GetAll(0, 9);
  h.Get(11);
  ArrivedPacket marked = h.Packet(12);
  marked.marked = true;
  EXPECT_EQ(h.Put(marked).new_events, 1u);
  EXPECT_EQ(h.Intervals().at(0).lossy, 3u);  // 10 to 12
  EXPECT_EQ(h.Intervals().at(1).lossless, 10u);
}

TEST(LossHistory, R5348_LOSS_02_R4342_LI_03_AMarkedAckIsNoEvent) {
  History h;
  h.GetAll(0, 9);
  ArrivedPacket ack = h.Packet(10);
  ack.data = false;
  ack.marked = true;
  EXPECT_EQ(h.Put(ack).new_events, 0u);
}

TEST(LossHistory, R5348_LOSS_04_Bug_E16_TheOpenIntervalCountsItsFirstPacket) {
  History h;
  h.GetAll(0, 9);
  h.GetAll(11, 30);
  EXPECT_EQ(h.Intervals().at(0).data, 30 - 10 + 1);
}

// Two holes within the three packets that the first waits for.
TEST(LossHistory, Bug_E17_ASecondGapDoesNotHideTheFirst) {
  History h;
  h.GetAll(0, 9);
  h.Get(11);
  h.Get(13);
  EXPECT_EQ(h.events(), 0u);
  EXPECT_EQ(h.Get(14).new_events, 1u);  // 10 is lost; 12 waits for one more
  EXPECT_EQ((*h).next(), Seq64(12));
  h.Get(15);
  EXPECT_EQ((*h).next(), Seq64(16));
  EXPECT_EQ(h.Intervals().at(0).lossy, 3u);
}

TEST(LossHistory, R4342_LI_03_Bug_E15_NdpCountAcquitsNonData) {
  for (std::uint64_t ndp : {0u, 1u, 2u, 3u, 9u}) {
    History h;
    h.GetAll(0, 9);
    ArrivedPacket after = h.Packet(12);
    after.ndp = ndp;
    h.Put(after);
    h.GetAll(13, 14);
    EXPECT_EQ(h.events(), ndp >= 2 ? 0u : 1u) << ndp;
    if (ndp == 1) {
      EXPECT_EQ(h.Intervals().at(0).lossy, 1u);  // 10; 11 was none
    }
  }
}

TEST(LossHistory, R4342_LI_04_NonDataDoesNotCountInDataLengths) {
  History h;
  h.GetAll(0, 9);
  for (std::int64_t seq = 11; seq <= 30; ++seq) {
    ArrivedPacket packet = h.Packet(seq);
    packet.data = seq % 2 == 1;
    h.Put(packet);
  }
  const LossInterval open = h.Intervals().at(0);
  EXPECT_EQ(open.lossless + open.lossy, 21u);
  EXPECT_EQ(open.data, 11);
}

TEST(LossHistory, R4342_LI_04_BeforeTheFirstLossTheDataLengthIsZero) {
  History h;
  h.GetAll(0, 9);
  const auto intervals = h.Intervals();
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_EQ(intervals[0].lossless, 10u);
  EXPECT_EQ(intervals[0].lossy, 0u);
  EXPECT_EQ(intervals[0].data, 0);
  h.GetAll(11, 12);
  EXPECT_TRUE(h.Get(13).first_event);
  (*h).SetFirstInterval(500);
  EXPECT_EQ(h.Intervals().at(1).data, 500);
}

TEST(LossHistory, R5348_RCV_07_KnowsThatTheFirstDataPacketWasLost) {
  History h;
  h.GetAll(1, 3);
  EXPECT_TRUE((*h).any_loss());
  EXPECT_TRUE((*h).first_data_packet_lost());
  History other;
  other.Get(0);
  other.GetAll(2, 4);
  EXPECT_FALSE((*other).first_data_packet_lost());
}

// The picture of RFC 4342 §8.6.2: packets 0 to 44, "*" lost or marked, each column one number.
TEST(LossHistory, R4342_LI_01_LI_02_LE_01_TheExampleOfTheRfc) {
  const std::set<std::int64_t> lost = {10, 19, 20, 21, 23, 32, 43};
  History h;
  for (std::int64_t seq = 0; seq <= 44; ++seq) {
    if (lost.count(seq) != 0) continue;
    ArrivedPacket packet = h.Packet(seq);
    packet.ccval = static_cast<std::uint8_t>(seq * 6 / 10 & 15);  // a round trip is 6.7 packets
    h.Put(packet);
  }
  const auto intervals = h.Intervals();
  ASSERT_EQ(intervals.size(), 4u);
  EXPECT_EQ((*h).next(), Seq64(43));  // Skip Length 2
  const std::uint64_t lossless[] = {10, 8, 8, 10};
  const std::uint64_t lossy[] = {1, 5, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(intervals[i].lossless, lossless[i]) << i;
    EXPECT_EQ(intervals[i].lossy, lossy[i]) << i;
  }
}

TEST(LossHistory, R4342_LE_01_LossesFourQuartersApartAreOneEvent) {
  for (int quarters : {4, 5}) {
    History h;
    h.GetAll(0, 9);  // the loss of 10 has counter 0 before it
    const std::int64_t second = 10 + 10 * quarters;
    for (std::int64_t seq = 11; seq <= second + 5; ++seq)
      if (seq != second) h.Get(seq);
    EXPECT_EQ(h.events(), quarters == 4 ? 1u : 2u) << quarters;
  }
}

TEST(LossHistory, R4342_LE_01_ACounterThatWrapsIsStillLater) {
  History h;
  h.GetAll(0, 9);
  // Sixteen quarters and more pass between the losses.
  h.GetAll(11, 179);
  h.GetAll(181, 185);
  EXPECT_EQ(h.events(), 2u);
}

TEST(LossHistory, R4342_LE_01_WhatIsLostInARowIsOneEvent) {
  History h;
  h.GetAll(0, 9);
  h.GetAll(300, 305);
  EXPECT_EQ(h.events(), 1u);
  EXPECT_EQ(h.Intervals().at(0).lossy, 290u);
}

TEST(LossHistory, R6323_USE_02_R5348_LOSS_03_WithARoundTripTheTimeDecides) {
  History h({milliseconds(40)});
  h.GetAll(0, 9);
  h.GetAll(11, 49);
  h.GetAll(51, 55);  // 50 would have come 40 ms after 10: the same event
  EXPECT_EQ(h.events(), 1u);
  h.GetAll(57, 99);
  h.GetAll(101, 105);
  EXPECT_EQ(h.events(), 3u);
}

TEST(LossHistory, R6323_USE_02_R5348_LOSS_03_ALongGapIsSeveralEvents) {
  History h({milliseconds(40)});
  h.GetAll(0, 9);
  h.GetAll(110, 115);  // 100 ms: at 10, 51 and 92
  EXPECT_EQ(h.events(), 3u);
  const auto intervals = h.Intervals();
  ASSERT_EQ(intervals.size(), 4u);
  EXPECT_EQ(intervals[0].lossy, 18u);
  EXPECT_EQ(intervals[1].lossy, 41u);
  EXPECT_EQ(intervals[2].lossy, 41u);
}

TEST(LossHistory, R6323_USE_02_AGapOfHoursIsBounded) {
  History h({milliseconds(1)});
  h.GetAll(0, 9);
  h.GetAll(10'000'000, 10'000'005);
  EXPECT_LE(h.events(), 20u);
  EXPECT_EQ(h.Intervals().size(), LossHistory::kMaxEvents);
}

TEST(LossHistory, R4342_OPT_09_NonceSumOfTheLosslessPart) {
  History h;
  const auto put = [&](std::int64_t seq, bool data) {
    ArrivedPacket packet = h.Packet(seq);
    packet.nonce = true;
    packet.data = data;
    h.Put(packet);
  };
  for (std::int64_t seq = 0; seq < 9; ++seq) put(seq, true);
  EXPECT_TRUE(h.Intervals().at(0).nonce_echo);  // 9 of them
  put(9, false);                                // not data
  EXPECT_TRUE(h.Intervals().at(0).nonce_echo);
  for (std::int64_t seq = 11; seq <= 14; ++seq) put(seq, true);
  ASSERT_EQ(h.Intervals().size(), 2u);
  EXPECT_FALSE(h.Intervals().at(0).nonce_echo);
  EXPECT_TRUE(h.Intervals().at(1).nonce_echo);
  put(15, true);
  EXPECT_TRUE(h.Intervals().at(0).nonce_echo);
}

// Any order of arrival with any losses: the intervals tile the numbers, and each lossy part begins
// and ends with a packet that did not come.
TEST(LossHistory, R4342_OPT_08_IntervalsTileTheSequence) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    History h(round % 2 == 0 ? EventRule{} : EventRule{milliseconds(30)});
    std::set<std::int64_t> got;
    std::vector<std::int64_t> order;
    for (std::int64_t seq = 0; seq < 400; ++seq)
      if (random() % 100 >= 5 + static_cast<unsigned>(round) % 30) order.push_back(seq);
    for (std::size_t i = 0; i + 8 < order.size(); ++i)
      if (random() % 10 == 0) std::swap(order[i], order[i + random() % 8]);
    for (std::int64_t seq : order) {
      h.Get(seq);
      got.insert(seq);
      const auto intervals = h.Intervals();
      ASSERT_FALSE(intervals.empty());
      std::int64_t end = (*h).next().value();
      for (const LossInterval& interval : intervals) {
        const auto lossless = static_cast<std::int64_t>(interval.lossless);
        const auto lossy = static_cast<std::int64_t>(interval.lossy);
        if (lossy == 0) break;
        ASSERT_EQ(got.count(end - lossless - 1), 0u);
        ASSERT_EQ(got.count(end - lossless - lossy), 0u);
        end -= lossless + lossy;
        ASSERT_GE(end, 0);
        ASSERT_LE(interval.data, static_cast<double>(lossless + lossy));
        ASSERT_GE(interval.data, 1);
      }
    }
  }
}

}  // namespace
}  // namespace dccp::tfrc
