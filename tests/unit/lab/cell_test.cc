#include "stack/lab/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "stack/lab/job_pool.h"

namespace dccp::lab {
namespace {

using ::testing::ElementsAre;

TEST(JobPool, RunsEachJobOnceOnAnyNumberOfThreads) {
  for (const std::size_t threads : {1u, 2u, 7u}) {
    std::multiset<std::size_t> ran;
    std::mutex mutex;
    std::size_t done = 0;
    RunJobs(
        100, threads,
        [&](std::size_t i) {
          const std::lock_guard lock(mutex);
          ran.insert(i);
        },
        [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 100u);
    ASSERT_EQ(ran.size(), 100u);
    EXPECT_EQ(std::set<std::size_t>(ran.begin(), ran.end()).size(), 100u);
  }
  RunJobs(0, 3, [](std::size_t) { FAIL(); });
}

TEST(Cell, ValuesDependOnTheSeedAlone) {
  const auto run = [](std::uint64_t seed) {
    return std::vector<double>{static_cast<double>(seed), static_cast<double>(seed * seed)};
  };
  const std::vector<Cell> cells = {{.section = "s",
                                    .name = "a",
                                    .measures = {{.name = "x"}, {.name = "y"}},
                                    .seeds = 3,
                                    .cost = 1,
                                    .run = run},
                                   {.section = "s",
                                    .name = "b",
                                    .measures = {{.name = "x"}},
                                    .seeds = 2,
                                    .cost = 9,
                                    .run = run}};
  double share = 0;
  for (const std::size_t threads : {1u, 3u}) {
    const auto results = RunCells(
        cells, {.first_seed = 5, .threads = threads, .progress = [&](double s) { share = s; }});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].cell, &cells[0]);
    EXPECT_THAT(results[0].measures[0].values, ElementsAre(5, 6, 7));
    EXPECT_THAT(results[0].measures[1].values, ElementsAre(25, 36, 49));
    EXPECT_THAT(results[1].measures[0].values, ElementsAre(5, 6));
    EXPECT_DOUBLE_EQ(share, 1);
    EXPECT_TRUE(results[0].met());
    EXPECT_FALSE(results[0].measures[0].has_target);
  }
}

TEST(Cell, Verdicts) {
  const Measure mean = {.name = "m", .least = 0.9, .most = 1.1};
  EXPECT_TRUE(Judge(mean, {0.5, 1.5}).met);
  EXPECT_FALSE(Judge(mean, {0.5, 0.6}).met);
  EXPECT_FALSE(Judge(mean, {1.5, 1.6}).met);
  EXPECT_FALSE(Judge(mean, {std::nan("")}).met);
  Measure each = mean;
  each.over = Measure::Over::kEachRun;
  EXPECT_FALSE(Judge(each, {0.5, 1.5}).met);
  EXPECT_TRUE(Judge(each, {0.9, 1.1}).met);
  const Measure precise = {.name = "p", .precision = 0.02};
  EXPECT_TRUE(Judge(precise, {1, 1.001, 0.999}).met);
  EXPECT_FALSE(Judge(precise, {1, 1.1, 0.9}).met);
  EXPECT_FALSE(Judge(precise, {1}).met);
}

}  // namespace
}  // namespace dccp::lab
