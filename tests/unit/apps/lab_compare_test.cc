#include "apps/dccp-lab/compare.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/sizes_plan.h"

namespace dccp::apps::lab {
namespace {

using Verdict = Comparison::Verdict;

// Means 10 and 20, variances 1 and 4, 3 values each: t = 10 / sqrt(1/3 + 4/3), and
// (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 2.941 degrees of freedom; t(0.975, 2) = 4.303.
TEST(Compare, IsWelchsTest) {
  const std::array first = {9.0, 10.0, 11.0};
  const std::array second = {18.0, 20.0, 22.0};
  const Comparison c = Compare(first, second);
  EXPECT_DOUBLE_EQ(c.difference, 10);
  EXPECT_NEAR(c.degrees, 2.941, 0.001);
  EXPECT_NEAR(c.half_width, 4.303 * 1.29099, 0.01);
  EXPECT_EQ(c.verdict, Verdict::kGreater);
  EXPECT_EQ(Compare(second, first).verdict, Verdict::kLess);
}

TEST(Compare, FindsNoDifferenceInNoise) {
  const std::array first = {9.0, 10.0, 14.0};
  const std::array second = {8.0, 12.0, 13.0};
  EXPECT_EQ(Compare(first, second).verdict, Verdict::kNoDifference);
  EXPECT_EQ(Compare(first, first).verdict, Verdict::kNoDifference);
}

TEST(Compare, SaysNothingOfSingleRuns) {
  const std::array one = {9.0};
  const std::array many = {1.0, 2.0, 3.0};
  EXPECT_EQ(Compare(one, many).verdict, Verdict::kTooFewRuns);
  EXPECT_EQ(Compare(many, one).verdict, Verdict::kTooFewRuns);
}

Json OneRun(double bps, double sender_us) {
  return {{"received", {{"bits_per_second", bps}}}, {"cpu", {{"local_us_per_packet", sender_us}}}};
}

TEST(Compare, MoreTimeAPacketIsSlower) {
  Json first = {{"cells", {{{"id", "a"}, {"runs", {OneRun(10, 1), OneRun(11, 1.1)}}}}}};
  Json second = {{"cells", {{{"id", "a"}, {"runs", {OneRun(100, 9), OneRun(110, 9.1)}}}}}};
  const std::vector<ComparedRow> rows = CompareResults(first, second);
  // The receiver's CPU time is not there.
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].verdict(), "faster");
  EXPECT_EQ(rows[1].verdict(), "slower");
  second["cells"][0]["id"] = "b";
  EXPECT_TRUE(CompareResults(first, second).empty());
}

TEST(Results, KeepsRunsAndResumes) {
  std::string folder = (std::filesystem::temp_directory_path() / "lab-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Json plan = {{"command", "sizes"}, {"seconds", 1}};
  const Json cell = {{"id", "x"}, {"payload_bytes", 100}};
  std::string error;
  {
    std::optional<Results> results = Results::Open(folder, plan, false, &error);
    ASSERT_TRUE(results) << error;
    EXPECT_TRUE(results->Add(cell, OneRun(10, 1), &error)) << error;
    EXPECT_TRUE(results->Add(cell, OneRun(20, 1), &error)) << error;
  }
  EXPECT_FALSE(Results::Open(folder, plan, false, &error));
  EXPECT_NE(error.find("--resume"), std::string::npos);
  EXPECT_FALSE(Results::Open(folder, {{"command", "other"}}, true, &error));
  EXPECT_NE(error.find("another plan"), std::string::npos);
  const std::optional<Results> results = Results::Open(folder, plan, true, &error);
  ASSERT_TRUE(results) << error;
  EXPECT_EQ(results->runs("x"), 2u);
  EXPECT_EQ(results->runs("y"), 0u);
  EXPECT_DOUBLE_EQ((*results->Find("x"))["mean_bps"].get<double>(), 15);
  std::filesystem::remove_all(folder);
}

TEST(SizesPlan, HasAControlForEachFamilyAndSize) {
  SizesPlan plan;
  plan.sizes = {32, 1440};
  plan.ccids = {2, 3};
  // 2 families x 2 sizes x (1 + 2 encapsulations x 2 CCIDs)
  EXPECT_EQ(CellsOf(plan).size(), 20u);
  plan.only = {"plain"};
  ASSERT_EQ(CellsOf(plan).size(), 4u);
  EXPECT_EQ(CellsOf(plan).front().id, "v4-plain-32");
  plan.only = {"v6-ccid3-native-1440"};
  EXPECT_EQ(CellsOf(plan).size(), 1u);
}

}  // namespace
}  // namespace dccp::apps::lab
