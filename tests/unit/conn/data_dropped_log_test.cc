#include "stack/conn/data_dropped_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "stack/wire/data_dropped_codec.h"
#include "tests/unit/conn/ack_vector_util.h"

namespace dccp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<WrittenOption> Write(const DataDroppedLog& log, std::int64_t ackno,
                                 std::int64_t window_start,
                                 std::size_t room = OptionWriter::kMaxBytes) {
  std::array<std::byte, OptionWriter::kMaxBytes> bytes;
  OptionWriter out(std::span<std::byte>(bytes).first(room));
  const std::size_t written = log.Write(out, Seq64(ackno), Seq64(window_start));
  EXPECT_EQ(written, out.size());
  return SplitOptions(out.bytes());
}

// Drop Codes by packet.
std::map<std::int64_t, int> Dropped(const std::vector<WrittenOption>& options, std::int64_t ackno) {
  std::map<std::int64_t, int> codes;
  for (const WrittenOption& option : options) {
    EXPECT_EQ(option.type, OptionType::kDataDropped);
    DataDroppedReader reader(option.data);
    for (DataDroppedBlock block; reader.Next(&block);) {
      for (std::uint32_t i = 0; i < block.packets; ++i, --ackno) {
        if (block.dropped) codes[ackno] = block.code;
      }
    }
  }
  return codes;
}

TEST(DataDroppedLog, R4340_DD_01_WritesTheExample) {
  DataDroppedLog log;
  for (const std::int64_t seq : {92, 93, 94, 99}) {
    EXPECT_TRUE(log.Record(Seq64(seq), DropCode::kReceiveBuffer));
  }
  const auto options = Write(log, 100, 90);
  ASSERT_THAT(options, SizeIs(1));
  EXPECT_THAT(options[0].data,
              ElementsAre(std::byte{0}, std::byte{160}, std::byte{3}, std::byte{162}));
  EXPECT_EQ(log.EncodedBytes(Seq64(100), Seq64(90)), 6u);
}

TEST(DataDroppedLog, R4340_DD_03_HolesAreNormal) {
  DataDroppedLog log;
  log.Record(Seq64(10), DropCode::kCorrupt);
  log.Record(Seq64(20), DropCode::kProtocolConstraints);
  EXPECT_THAT(Dropped(Write(log, 30, 5), 30),
              ElementsAre(std::pair<const std::int64_t, int>(10, 3),
                          std::pair<const std::int64_t, int>(20, 0)));
}

TEST(DataDroppedLog, R4340_DD_04_EveryCodeIsCarried) {
  DataDroppedLog log;
  std::int64_t seq = 0;
  for (const DropCode code :
       {DropCode::kProtocolConstraints, DropCode::kAppNotListening, DropCode::kReceiveBuffer,
        DropCode::kCorrupt, DropCode::kDeliveredCorrupt}) {
    log.Record(Seq64(seq++), code);
  }
  const auto codes = Dropped(Write(log, 4, 0), 4);
  EXPECT_EQ(codes, (std::map<std::int64_t, int>{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 7}}));
}

TEST(DataDroppedLog, R4340_DD_06_NothingWhenAllIsNormal) {
  DataDroppedLog log;
  EXPECT_THAT(Write(log, 100, 0), IsEmpty());
  log.Record(Seq64(5), DropCode::kReceiveBuffer);
  EXPECT_THAT(Write(log, 100, 6), IsEmpty());
  EXPECT_THAT(Write(log, 4, 0), IsEmpty());
}

TEST(DataDroppedLog, R4340_DD_08_RepeatsOverTheWholeWindow) {
  DataDroppedLog log;
  log.Record(Seq64(5), DropCode::kReceiveBuffer);
  EXPECT_EQ(Dropped(Write(log, 10, 0), 10).count(5), 1u);
  EXPECT_EQ(Dropped(Write(log, 200, 0), 200).count(5), 1u);
  log.ForgetBefore(Seq64(6));
  EXPECT_TRUE(log.empty());
}

TEST(DataDroppedLog, R4340_DD_09_ARecordedCodeStays) {
  DataDroppedLog log;
  log.Record(Seq64(5), DropCode::kDeliveredCorrupt);
  EXPECT_FALSE(log.Record(Seq64(5), DropCode::kReceiveBuffer));
  EXPECT_EQ(Dropped(Write(log, 5, 0), 5).at(5), 7);
}

TEST(DataDroppedLog, R4340_DD_15_LongRunsTakeSeveralBlocks) {
  DataDroppedLog log;
  for (std::int64_t seq = 0; seq < 40; ++seq) log.Record(Seq64(seq), DropCode::kReceiveBuffer);
  EXPECT_EQ(log.runs(), 1u);
  const auto options = Write(log, 239, 0);
  ASSERT_THAT(options, SizeIs(1));
  EXPECT_THAT(options[0].data, ElementsAre(std::byte{127}, std::byte{71}, std::byte{0xAF},
                                           std::byte{0xAF}, std::byte{0xA7}));
}

TEST(DataDroppedLog, R4340_DD_15_SeveralOptionsContinueEachOther) {
  DataDroppedLog log;
  for (std::int64_t seq = 0; seq < 600; seq += 2) log.Record(Seq64(seq), DropCode::kCorrupt);
  const auto options = Write(log, 600, 0);
  ASSERT_THAT(options, SizeIs(3));
  EXPECT_THAT(options[0].data, SizeIs(253));
  const auto codes = Dropped(options, 600);
  EXPECT_THAT(codes, SizeIs(300));
  for (const auto& [seq, code] : codes) EXPECT_EQ(seq % 2, 0);
  EXPECT_EQ(log.EncodedBytes(Seq64(600), Seq64(0)), 600u + 6u);
}

TEST(DataDroppedLog, LeavesOutTheOldEndWhereSpaceIsShort) {
  DataDroppedLog log;
  for (std::int64_t seq = 0; seq < 100; seq += 2) log.Record(Seq64(seq), DropCode::kCorrupt);
  const auto codes = Dropped(Write(log, 99, 0, 12), 99);
  EXPECT_EQ(codes, (std::map<std::int64_t, int>{{98, 3}, {96, 3}, {94, 3}, {92, 3}, {90, 3}}));
  EXPECT_THAT(Write(log, 99, 0, 2), IsEmpty());
}

TEST(DataDroppedLog, ForgetsTheOldestRunsWhenFull) {
  DataDroppedLog log;
  const auto most = static_cast<std::int64_t>(DataDroppedLog::kMaxRuns);
  for (std::int64_t i = 0; i < 3 * most; ++i) log.Record(Seq64(2 * i), DropCode::kCorrupt);
  EXPECT_EQ(log.runs(), DataDroppedLog::kMaxRuns);
  EXPECT_EQ(log.EncodedBytes(Seq64(4 * most - 2), Seq64(0)), 0u);
  EXPECT_GT(log.EncodedBytes(Seq64(4 * most), Seq64(0)), 0u);
}

class DataDroppedLogPropertyTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(DataDroppedLogPropertyTest, AgreesWithAMap) {
  std::mt19937 random(GetParam());
  std::map<std::int64_t, int> model;
  DataDroppedLog log;
  constexpr std::array<DropCode, 3> kCodes = {DropCode::kReceiveBuffer, DropCode::kCorrupt,
                                              DropCode::kDeliveredCorrupt};
  for (int i = 0; i < 200; ++i) {
    const auto seq = static_cast<std::int64_t>(random() % 300);
    const DropCode code = kCodes[random() % 3];
    ASSERT_EQ(log.Record(Seq64(seq), code), model.emplace(seq, static_cast<int>(code)).second);
    const auto ackno = static_cast<std::int64_t>(random() % 320);
    const auto start = static_cast<std::int64_t>(random() % 300);
    std::map<std::int64_t, int> expected;
    for (const auto& [s, c] : model) {
      if (s >= start && s <= ackno) expected[s] = c;
    }
    ASSERT_EQ(Dropped(Write(log, ackno, start), ackno), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DataDroppedLogPropertyTest, ::testing::Range(1u, 6u));

}  // namespace
}  // namespace dccp
