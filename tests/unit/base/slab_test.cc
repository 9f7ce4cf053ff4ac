#include "stack/base/slab.h"

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace dccp {
namespace {

constexpr std::size_t kMegabyte = 1024 * 1024;

TEST(Slab, PicksTheSmallestCellThatFits) {
  Slab slab(4 * kMegabyte);
  for (const auto& [bytes, capacity] : std::vector<std::pair<std::size_t, std::uint32_t>>{
           {0, 256}, {256, 256}, {257, 2048}, {2048, 2048}, {9000, 10240}, {65535, 66048}}) {
    const Cell* cell = slab.Allocate(bytes);
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cell->capacity, capacity) << bytes;
    EXPECT_EQ(cell->length, 0u);
    EXPECT_EQ(cell->offset, 0u);
  }
  EXPECT_EQ(slab.Allocate(66049), nullptr);
}

TEST(Slab, ReservesNoMoreThanTheBudget) {
  constexpr std::size_t kBudget = 10 * 2048 + 100;
  Slab slab(kBudget);
  std::vector<Cell*> cells;
  while (Cell* cell = slab.Allocate(1500)) cells.push_back(cell);
  EXPECT_EQ(cells.size(), 10u);
  EXPECT_EQ(slab.bytes_in_use(), 10u * 2048);
  EXPECT_LE(slab.bytes_reserved(), kBudget);
  slab.Free(cells.back());
  EXPECT_NE(slab.Allocate(1500), nullptr);
}

TEST(Slab, ABudgetBelowOneCellGivesNone) {
  Slab slab(1000);
  EXPECT_EQ(slab.Allocate(1500), nullptr);
  EXPECT_NE(slab.Allocate(100), nullptr);
}

TEST(Slab, ReturnsCellsReset) {
  Slab slab(kMegabyte);
  Cell* cell = slab.Allocate(100);
  cell->offset = 40;
  cell->length = 60;
  EXPECT_EQ(cell->bytes().size(), 60u);
  EXPECT_EQ(cell->bytes().data(), cell->data + 40);
  EXPECT_EQ(cell->headroom(), 40u);
  EXPECT_EQ(cell->tailroom(), 156u);
  slab.Free(cell);
  const Cell* again = slab.Allocate(100);
  EXPECT_EQ(again, cell);
  EXPECT_EQ(again->offset, 0u);
  EXPECT_EQ(again->length, 0u);
  EXPECT_EQ(again->next, nullptr);
}

TEST(Slab, AnEmptySizeGivesItsMemoryToAnother) {
  Slab slab(4 * 66048);
  std::vector<Cell*> small;
  while (Cell* cell = slab.Allocate(256)) small.push_back(cell);
  EXPECT_EQ(slab.Allocate(60000), nullptr);
  for (Cell* cell : small) slab.Free(cell);
  EXPECT_NE(slab.Allocate(60000), nullptr);
  EXPECT_LE(slab.bytes_reserved(), slab.budget_bytes());
}

TEST(Slab, ALargerCellServesWhenTheBudgetIsSpent) {
  Slab slab(2048 * 2);
  Cell* first = slab.Allocate(2000);
  Cell* second = slab.Allocate(2000);
  ASSERT_NE(second, nullptr);
  slab.Free(second);
  Cell* cell = slab.Allocate(100);
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->capacity, 2048u);
  slab.Free(cell);
  slab.Free(first);
  EXPECT_EQ(slab.bytes_in_use(), 0u);
}

TEST(Slab, ReservesNothingMoreOnceWarm) {
  Slab slab(4 * kMegabyte);
  std::vector<Cell*> cells;
  for (int i = 0; i < 300; ++i) cells.push_back(slab.Allocate(1500));
  for (Cell* cell : cells) slab.Free(cell);
  const std::size_t reserved = slab.bytes_reserved();
  for (int round = 0; round < 10; ++round) {
    for (Cell*& cell : cells) cell = slab.Allocate(1500);
    for (Cell* cell : cells) slab.Free(cell);
  }
  EXPECT_EQ(slab.bytes_reserved(), reserved);
  EXPECT_EQ(slab.bytes_in_use(), 0u);
}

TEST(Slab, LiveCellsNeverOverlap) {
  Slab slab(2 * kMegabyte);
  std::mt19937 rng(1);
  std::vector<std::pair<Cell*, int>> live;
  for (int step = 0; step < 5000; ++step) {
    if (live.empty() || rng() % 5 < 3) {
      if (Cell* cell = slab.Allocate(1 + rng() % 12000)) {
        const int fill = static_cast<int>(rng() % 256);
        std::memset(cell->data, fill, cell->capacity);
        live.emplace_back(cell, fill);
      }
    } else {
      const std::size_t i = rng() % live.size();
      const auto [cell, fill] = live[i];
      ASSERT_EQ(cell->data[0], static_cast<std::byte>(fill));
      ASSERT_EQ(cell->data[cell->capacity - 1], static_cast<std::byte>(fill));
      slab.Free(cell);
      live[i] = live.back();
      live.pop_back();
    }
    ASSERT_LE(slab.bytes_in_use(), slab.bytes_reserved());
    ASSERT_LE(slab.bytes_reserved(), slab.budget_bytes());
  }
}

}  // namespace
}  // namespace dccp
