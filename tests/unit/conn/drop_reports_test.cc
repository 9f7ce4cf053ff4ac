#include "stack/conn/drop_reports.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace dccp {
namespace {

constexpr TimePoint kStart = TimePoint() + std::chrono::seconds(10);

Seq64 At(std::int64_t n) { return Seq64(1000 + n); }

class DropReportsTest : public ::testing::Test {
 protected:
  // Packets 0..99 were sent; all but those in `missing` are acknowledged.
  void SentAndAcked(std::initializer_list<std::int64_t> missing = {}) {
    for (std::int64_t i = 0; i < 100; ++i)
      history_.OnSent({At(i), kStart, PacketType::kData, 100, true});
    std::vector<std::byte> cells;
    for (std::int64_t i = 99; i >= 0; --i) {
      bool lost = false;
      for (std::int64_t m : missing) lost = lost || m == i;
      cells.push_back(lost ? std::byte{0xC0} : std::byte{0});
    }
    const std::array<AckVectorOption, 1> vectors = {{{cells, false}}};
    history_.OnAck({At(99), kStart + std::chrono::milliseconds(10), std::nullopt, vectors});
  }
  std::vector<DataDroppedRun> Digest(std::initializer_list<int> blocks, std::int64_t ackno = 99) {
    std::vector<std::byte> data;
    for (int b : blocks) data.push_back(static_cast<std::byte>(b));
    const std::array<std::span<const std::byte>, 1> options = {data};
    const auto news = reports_.Digest(options, At(ackno), history_);
    return {news.begin(), news.end()};
  }
  SentHistory history_;
  DropReports reports_;
};

TEST_F(DropReportsTest, R4340_DD_01_TheExampleOfTheRfc) {
  SentAndAcked();
  // 99: normal; 98: code 2; 97-94: normal; 93-91: code 2.
  const auto news = Digest({0, 160, 3, 162});
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0].first, At(98));
  EXPECT_EQ(news[0].packets, 1u);
  EXPECT_EQ(news[0].code, DropCode::kReceiveBuffer);
  EXPECT_EQ(news[1].first, At(91));
  EXPECT_EQ(news[1].packets, 3u);
}

TEST_F(DropReportsTest, R4340_DD_14_EachDropIsNewsOnce) {
  SentAndAcked();
  EXPECT_EQ(Digest({0, 0xA0}).size(), 1u);
  EXPECT_TRUE(Digest({0, 0xA0}).empty());
  const auto more = Digest({0xA0, 0xA2});
  ASSERT_EQ(more.size(), 2u);
  EXPECT_EQ(more[0].first, At(99));
  EXPECT_EQ(more[1].first, At(96));
  EXPECT_EQ(more[1].packets, 2u);
}

// CCID 3 may go without Ack Vectors: then nothing contradicts a report but our own numbers.
TEST_F(DropReportsTest, R4342_DD_02_WithoutAckVectorsAReportStandsForItself) {
  history_.set_coverage(AckCoverage::kNumberOnly);
  for (std::int64_t i = 0; i < 100; ++i)
    history_.OnSent({At(i), kStart, PacketType::kData, 100, true});
  history_.OnAck({At(9), kStart + std::chrono::milliseconds(10), std::nullopt, {}});
  const auto news = Digest({0, 0xA3, 0xAF}, 9);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].first, At(0));
  EXPECT_EQ(news[0].packets, 9u);
  EXPECT_TRUE(Digest({0, 0xA3}, 9).empty());
}

TEST_F(DropReportsTest, R4340_DD_07_WhatContradictsTheAckVectorIsIgnored) {
  SentAndAcked({98, 50});
  EXPECT_TRUE(Digest({0, 0xA0}).empty());   // 98 did not arrive
  const auto news = Digest({0, 47, 0xA2});  // 98-51 are normal; 50-48, of which 50 did not arrive
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].first, At(48));
  EXPECT_EQ(news[0].packets, 2u);
}

TEST_F(DropReportsTest, R4340_DD_07_WhatWasNeverSentIsIgnored) {
  SentAndAcked();
  EXPECT_TRUE(Digest({127, 127, 0xAF}).empty());
  EXPECT_TRUE(Digest({0xAF}, 99 + 40).empty());
}

TEST_F(DropReportsTest, ManyScatteredReportsStayBounded) {
  SentHistory history;
  for (std::int64_t i = 0; i < 6000; ++i)
    history.OnSent({At(i), kStart, PacketType::kData, 100, true});
  std::size_t news = 0;
  for (std::int64_t i = 0; i < 6000; i += 2) {
    const std::array<std::byte, 64> cells = {};
    const std::array<AckVectorOption, 1> vectors = {{{std::span(cells).first(1), false}}};
    history.OnAck({At(i), kStart, std::nullopt, vectors});
    const std::array<std::byte, 1> block = {std::byte{0xA0}};
    const std::array<std::span<const std::byte>, 1> options = {block};
    news += reports_.Digest(options, At(i), history).size();
    EXPECT_TRUE(reports_.Digest(options, At(i), history).empty());
  }
  EXPECT_EQ(news, 3000u);
}

}  // namespace
}  // namespace dccp
