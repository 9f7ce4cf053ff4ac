#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/tfrc_batches.h"
#include "apps/dccp-lab/tfrc_plan.h"
#include "apps/dccp-lab/tfrc_simulate.h"
#include "apps/dccp-lab/tfrc_table.h"

namespace dccp::apps::lab {
namespace {

using std::chrono::milliseconds;

TfrcPlan Published() {
  TfrcPlan plan;
  plan.topologies = {"router", "bridge"};
  return plan;
}

TEST(TfrcPlan, HasThe36CellsThatWerePublished) {
  const std::vector<TfrcCell> cells = CellsOf(Published());
  ASSERT_EQ(cells.size(), 36u);
  std::set<std::string> ids;
  for (const TfrcCell& cell : cells) {
    ids.insert(cell.id);
    EXPECT_TRUE(PublishedOf(cell)) << cell.id;
    EXPECT_TRUE(cell.native());
  }
  EXPECT_EQ(ids.size(), 36u);
  EXPECT_TRUE(ids.contains("bridge-v6-1420-150ms-10%"));
}

// b = 1, t_RTO = 4 R, kbit/s: worked out by hand.
TEST(TfrcPlan, KnowsTheEquation) {
  struct Known {
    std::size_t bytes;
    TfrcPath path;
    double kbps;
  };
  for (const Known& k :
       {Known{1420, {milliseconds(40), 0.01}, 3190.2},
        Known{1440, {milliseconds(40), 0.01}, 3235.2}, Known{256, {milliseconds(150), 0.01}, 153.4},
        Known{1440, {milliseconds(150), 0.1}, 135.9}, Known{32, {milliseconds(150), 0.1}, 3.0}}) {
    const TfrcCell cell = {"", "relay", IpFamily::kV4, k.bytes, k.path};
    EXPECT_NEAR(cell.EquationBps() / 1000, k.kbps, 0.05);
  }
}

TEST(TfrcPlan, OnlyTakesPathsWithAThroughput) {
  EXPECT_EQ(ParseTfrcPath("40ms/1%"), (TfrcPath{milliseconds(40), 0.01}));
  EXPECT_EQ(PathText(*ParseTfrcPath("0.1/0.0005")), "100ms-0.05%");
  for (const char* bad :
       {"", "40ms", "40ms/", "/1%", "40ms/0", "40ms/60%", "0ms/1%", "20s/1%", "40ms/1%x", "x/1%"})
    EXPECT_FALSE(ParseTfrcPath(bad)) << bad;
}

TEST(TfrcPlan, SeedsAreOfTheCellNotOfThePlace) {
  TfrcPlan plan;
  const std::vector<TfrcCell> all = CellsOf(plan);
  std::set<std::uint64_t> seeds;
  for (const TfrcCell& cell : all)
    for (std::size_t repeat = 0; repeat < 10; ++repeat) seeds.insert(SeedOf(plan, cell, repeat));
  EXPECT_EQ(seeds.size(), 180u);
  plan.only = {"v4-32-150ms-10%"};
  const std::vector<TfrcCell> one = CellsOf(plan);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(SeedOf(plan, one[0], 3), SeedOf(plan, all.back(), 3));
  plan.seed = 2;
  EXPECT_NE(SeedOf(plan, one[0], 3), SeedOf(plan, all.back(), 2));
}

TEST(TfrcBatches, AreFewAndAboutEqual) {
  const std::vector<TfrcCell> cells = CellsOf(TfrcPlan());
  std::vector<TfrcJob> jobs;
  double all = 0;
  for (std::size_t repeat = 0; repeat < 10; ++repeat)
    for (std::size_t i = 0; i < cells.size(); ++i) {
      jobs.push_back({i, repeat});
      all += cells[i].EquationPackets();
    }
  EXPECT_NEAR(all, 22'060, 100);
  EXPECT_EQ(Batches(jobs, cells, 1e6, 0).size(), 1u);
  const auto three = Batches(jobs, cells, 8'000, 0);
  ASSERT_EQ(three.size(), 3u);
  std::size_t count = 0;
  for (const auto& batch : three) {
    double load = 0;
    for (const TfrcJob& job : batch) load += cells[job.cell].EquationPackets();
    EXPECT_NEAR(load, all / 3, 300);
    count += batch.size();
  }
  EXPECT_EQ(count, jobs.size());
  for (const auto& batch : Batches(jobs, cells, 1e6, 50)) EXPECT_LE(batch.size(), 50u);
  EXPECT_EQ(Batches(jobs, cells, 1, 0).size(), jobs.size());
}

TEST(TfrcSummary, OfThePublishedFiguresIsWhatWasWorkedOut) {
  const TfrcPlan plan;
  Json document = {{"cells", Json::array()}};
  for (const TfrcCell& cell : CellsOf(plan)) {
    Json json = CellToJson(plan, cell);
    json["runs"] = Json::array();
    json["ratio"] = cell.payload_bytes == 32 ? 0.9 : 1.1;
    document["cells"].push_back(json);
  }
  const Json summary = TfrcSummary(document);
  EXPECT_NEAR(summary["published_mean_absolute_deviation_percent"].get<double>(), 16.7, 0.05);
  EXPECT_NEAR(summary["published_worst_percent"].get<double>(), 108, 0.5);
  EXPECT_NEAR(summary["mean_absolute_deviation_percent"].get<double>(), 10, 1e-9);
  EXPECT_EQ(summary["cells"], 18);
  EXPECT_EQ(summary["within"], 12);
}

TEST(TfrcSimulate, IsTheSameForTheSameSeedAndNearTheEquation) {
  TfrcPlan plan;
  plan.seconds = 200;
  plan.omit = 20;
  plan.only = {"relay-v6-256-40ms-1%"};
  const TfrcCell cell = CellsOf(plan).at(0);
  const auto never = [] { return false; };
  const Json run = SimulateRun(plan, cell, 5, never);
  EXPECT_EQ(run, SimulateRun(plan, cell, 5, never));
  EXPECT_NE(run["sent"], SimulateRun(plan, cell, 6, never)["sent"]);
  const double ratio = run["sent"]["bits_per_second"].get<double>() / cell.EquationBps();
  EXPECT_GT(ratio, 0.92);
  EXPECT_LT(ratio, 1.18);
  EXPECT_NEAR(run["received"]["packets"].get<double>() / run["sent"]["packets"].get<double>(), 0.99,
              0.003);
  EXPECT_NEAR(run["rtt_ms"]["mean"].get<double>(), 40, 0.1);
  double packets = 0;
  for (const Json& interval : run["intervals"])
    if (interval["omitted"] == false) packets += interval["packets"].get<double>();
  EXPECT_EQ(packets, run["sent"]["packets"].get<double>());
  EXPECT_TRUE(SimulateRun(plan, cell, 5, [] { return true; }).is_null());
}

// An interrupted run counts until the plan goes on; what was sent is what is measured.
TEST(Results, PartialRunsGoWhenThePlanIsResumed) {
  std::string folder = testing::TempDir() + "lab_tfrc_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::string error;
  const Json plan = {{"command", "x"}};
  const Json cell = {{"id", "a"}, {"measure", "sent"}, {"equation_bps", 100.0}};
  const auto run = [](double sent) {
    return Json{{"sent", {{"bits_per_second", sent}}}, {"received", {{"bits_per_second", 1.0}}}};
  };
  Json partial = run(200);
  partial["partial"] = true;
  {
    std::optional<Results> results = Results::Open(folder, plan, false, &error);
    ASSERT_TRUE(results) << error;
    ASSERT_TRUE(results->Add({{cell, run(100)}, {cell, partial}}, &error)) << error;
    EXPECT_EQ(results->runs("a"), 1u);
    EXPECT_DOUBLE_EQ(results->Find("a")->at("mean_bps").get<double>(), 150);
    EXPECT_DOUBLE_EQ(results->Find("a")->at("ratio").get<double>(), 1.5);
  }
  std::optional<Results> results = Results::Open(folder, plan, true, &error);
  ASSERT_TRUE(results) << error;
  EXPECT_EQ(results->runs("a"), 1u);
  EXPECT_DOUBLE_EQ(results->Find("a")->at("mean_bps").get<double>(), 100);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dccp::apps::lab
