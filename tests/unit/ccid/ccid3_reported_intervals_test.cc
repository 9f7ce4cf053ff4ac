#include "ccid/ccid3/reported_intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace dccp::ccid3 {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;

constexpr TimePoint kStart{std::chrono::hours(1)};

// Owns the bytes that views point into.
class Reports {
 public:
  explicit Reports(Seq64 first = Seq64(0)) : intervals_(first) {}

  std::size_t Update(std::int64_t acked, std::uint32_t skip,
                     const std::vector<WireInterval>& intervals) {
    std::array<std::byte, 512> buffer;
    OptionWriter writer(buffer);
    EXPECT_TRUE(AddLossIntervals(writer, skip, intervals));
    const LossIntervalsView view = *DecodeLossIntervals(writer.bytes().subspan(2));
    return intervals_.Update(Seq64(acked), {&view, 1});
  }
  std::vector<double> Lengths() {
    const auto lengths = intervals_.Lengths();
    return {lengths.begin(), lengths.end()};
  }
  ReportedIntervals& operator*() { return intervals_; }

 private:
  ReportedIntervals intervals_;
};

TEST(ReportedIntervals, R4342_OPT_04_TheExampleOfTheRfc) {
  Reports reports;
  EXPECT_EQ(reports.Update(
                44, 2, {{10, 1, 10, true}, {8, 5, 10, false}, {8, 1, 8, false}, {10, 0, 15, true}}),
            3u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(10, 10, 8, 15));
}

TEST(ReportedIntervals, R5348_LOSS_07_OneIntervalWithoutLoss) {
  Reports reports;
  EXPECT_EQ(reports.Update(99, 0, {{100, 0, 0, false}}), 0u);
  EXPECT_EQ(reports.Lengths().size(), 1u);
}

TEST(ReportedIntervals, CountsEachEventOnce) {
  Reports reports;
  EXPECT_EQ(reports.Update(99, 0, {{8, 2, 10, false}, {90, 0, 50, false}}), 1u);
  EXPECT_EQ(reports.Update(199, 0, {{108, 2, 110, false}, {90, 0, 50, false}}), 0u);
  // It goes on, and begins a little later, since a packet came late.
  EXPECT_EQ(reports.Update(199, 0, {{108, 1, 110, false}, {91, 0, 50, false}}), 0u);
  EXPECT_EQ(reports.Update(299, 0, {{49, 1, 50, false}, {158, 1, 159, false}, {91, 0, 50, false}}),
            1u);
}

// An interval of more packets than 24 bits count.
TEST(ReportedIntervals, R4342_OPT_04_AFullFieldMovesNothingThatIsKnown) {
  const WireInterval full = {kMax24, 1, kMax24, false};
  const WireInterval old = {999, 1, 1000, false};
  const WireInterval first = {1000, 0, 1000, false};
  Reports reports;
  EXPECT_EQ(reports.Update(2'999, 0, {old, old, first}), 2u);
  EXPECT_EQ(reports.Update(20'001'999, 0, {full, old, first}), 0u);
  EXPECT_EQ(reports.Update(40'001'999, 0, {full, old, first}), 0u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(kMax24, 1000, 1000));
  EXPECT_EQ(reports.Update(50'000'009, 0, {{9, 1, 10, false}, full, old, first}), 1u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(10, kMax24, 1000, 1000));
}

TEST(ReportedIntervals, R4342_LI_04_NoMoreDataThanNumbersButInTheFirst) {
  Reports reports;
  reports.Update(99, 0, {{9, 1, 1000, false}, {90, 0, 5000, false}});
  EXPECT_THAT(reports.Lengths(), ElementsAre(10, 5000));
}

TEST(ReportedIntervals, R4342_OPT_05_WhatTheReceiverLeavesOutIsRemembered) {
  Reports reports;
  reports.Update(99, 0, {{9, 1, 10, false}, {29, 1, 30, false}, {60, 0, 70, false}});
  // The open interval has grown to 110; the next one is at 200.
  EXPECT_EQ(reports.Update(219, 0, {{19, 1, 20, false}}), 1u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(20, 110, 30, 70));
}

TEST(ReportedIntervals, R4342_OPT_06_FurtherOptionsContinueWithSkipZero) {
  Reports reports;
  std::array<std::byte, 512> buffer;
  OptionWriter writer(buffer);
  const std::vector<WireInterval> newest = {{9, 1, 10, false}};
  const std::vector<WireInterval> older = {{29, 1, 30, false}, {60, 0, 70, false}};
  AddLossIntervals(writer, 0, newest);
  AddLossIntervals(writer, 0, older);
  AddLossIntervals(writer, 1, older);
  const auto bytes = writer.bytes();
  const LossIntervalsView views[] = {*DecodeLossIntervals(bytes.subspan(2, 10)),
                                     *DecodeLossIntervals(bytes.subspan(14, 19)),
                                     *DecodeLossIntervals(bytes.subspan(35, 19))};
  EXPECT_EQ((*reports).Update(Seq64(99), views), 2u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(10, 30, 70));
  // One with a Skip Length is ignored.
  Reports other;
  const LossIntervalsView wrong[] = {views[0], views[2]};
  EXPECT_EQ((*other).Update(Seq64(99), wrong), 1u);
}

TEST(ReportedIntervals, R4342_OPT_04_TheFirstPacketWasLost) {
  Reports reports(Seq64(0));
  EXPECT_EQ(reports.Update(9, 0, {{9, 1, 10, false}, {0, 0, 5, false}}), 1u);
  EXPECT_THAT(reports.Lengths(), ElementsAre(10, 5));
}

TEST(ReportedIntervals, R4342_DD_03_ACorruptPacketSplitsAnInterval) {
  WindowCounter counters;
  for (int i = 0; i < 400; ++i)
    counters.Next(Seq64(i), kStart + i * std::chrono::milliseconds(10),
                  std::chrono::milliseconds(100));
  Reports reports;
  reports.Update(399, 0, {{99, 1, 100, false}, {300, 0, 77, false}});
  EXPECT_FALSE((*reports).AddMark(Seq64(305), counters, 50));  // within a round trip of 300
  EXPECT_TRUE((*reports).AddMark(Seq64(360), counters, 50));
  EXPECT_FALSE((*reports).AddMark(Seq64(365), counters, 50));
  EXPECT_THAT(reports.Lengths(), ElementsAre(40, 60, 77));
  // It stays where later reports, which know nothing of it, move on.
  reports.Update(499, 0, {{199, 1, 200, false}, {300, 0, 77, false}});
  EXPECT_THAT(reports.Lengths(), ElementsAre(140, 60, 77));
}

TEST(ReportedIntervals, R4342_DD_03_ACorruptPacketMayBeTheFirstEvent) {
  WindowCounter counters;
  counters.Next(Seq64(0), kStart, std::chrono::milliseconds(100));
  Reports reports;
  reports.Update(399, 0, {{400, 0, 0, false}});
  EXPECT_TRUE((*reports).AddMark(Seq64(350), counters, 50));
  EXPECT_THAT(reports.Lengths(), ElementsAre(50, 50));
}

TEST(ReportedIntervals, AnyBytesGiveLengthsThatAreNumbers) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    Reports reports(Seq64(1000));
    for (int i = 0; i < 5; ++i) {
      std::vector<std::byte> data(1 + 9 * (1 + random() % 28));
      for (std::byte& b : data) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      data[0] = static_cast<std::byte>(random() % 4);
      const LossIntervalsView view = *DecodeLossIntervals(data);
      const Seq64 acked(1000 + static_cast<std::int64_t>(random() % 5000));
      (*reports).Update(acked, {&view, 1});
      EXPECT_LE(reports.Lengths().size(), ReportedIntervals::kMost);
      EXPECT_THAT(reports.Lengths(), Each(Ge(0)));
    }
  }
}

TEST(ReportedIntervals, NothingReportedNothingKnown) {
  Reports reports;
  EXPECT_THAT(reports.Lengths(), IsEmpty());
  EXPECT_EQ((*reports).Update(Seq64(5), {}), 0u);
}

}  // namespace
}  // namespace dccp::ccid3
