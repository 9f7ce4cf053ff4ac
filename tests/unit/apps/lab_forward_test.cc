#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/dccp-lab/forward_plan.h"
#include "apps/dccp-lab/forward_rules.h"
#include "apps/dccp-lab/forward_search.h"
#include "apps/dccp-lab/forward_table.h"
#include "apps/dccp-lab/host_cpu.h"

namespace dccp::apps::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A path that loses nothing up to a rate, and all above it.
RateSearch SearchOf(double limit, double failed, double resolution, std::size_t most,
                    std::size_t* trials) {
  RateSearch search(failed, resolution, most);
  *trials = 0;
  while (const std::optional<double> rate = search.Next()) {
    ++*trials;
    search.Report(*rate <= limit);
  }
  return search;
}

TEST(RateSearch, EndsWithinTheResolutionBelowTheLimit) {
  for (const double limit : {150'000.0, 500'000.0, 999'000.0}) {
    std::size_t trials = 0;
    const RateSearch search = SearchOf(limit, 1e6, 0.02, 20, &trials);
    EXPECT_LE(search.highest_passed(), limit);
    EXPECT_GT(search.lowest_failed(), limit);
    EXPECT_LE(search.lowest_failed() - search.highest_passed(), 0.02 * search.lowest_failed());
    EXPECT_LE(trials, 10u);
  }
}

TEST(RateSearch, GivesUpAfterItsTrialsWhereNothingPasses) {
  std::size_t trials = 0;
  const RateSearch search = SearchOf(0, 1e6, 0.02, 7, &trials);
  EXPECT_EQ(trials, 7u);
  EXPECT_EQ(search.highest_passed(), 0);
}

TEST(RateSearch, BeginsInTheMiddleAndHalves) {
  RateSearch search(800, 0.02, 20);
  EXPECT_EQ(search.Next(), 400);
  search.Report(true);
  EXPECT_EQ(search.Next(), 600);
  search.Report(false);
  EXPECT_EQ(search.Next(), 500);
}

TEST(RateSearch, APassNeedsTheLossAndTheRate) {
  EXPECT_TRUE(Passes({1000, 990, 989, 0.001}, 0.001));
  EXPECT_FALSE(Passes({1000, 990, 989, 0.0011}, 0.001));
  EXPECT_FALSE(Passes({1000, 900, 900, 0}, 0.001));  // the sender did not offer it
  EXPECT_TRUE(Passes({0, 900, 900, 0}, 0));          // a blast is what the sender can
  EXPECT_FALSE(Passes({0, 900, 0, 0}, 0));           // the receiver tells of nothing
}

// Ethernet with its check sequence 18, IPv4 20, IPv6 40, UDP 8, DCCP-Data 16 (RFC 4340 §5.1).
TEST(ForwardPlan, FramesHoldHeadersAndPayload) {
  EXPECT_EQ(PayloadOf(64, IpFamily::kV4, Traffic::kPlain), 18u);
  EXPECT_EQ(PayloadOf(64, IpFamily::kV4, Traffic::kUdp), 2u);
  EXPECT_EQ(PayloadOf(64, IpFamily::kV4, Traffic::kNative), 10u);
  EXPECT_EQ(PayloadOf(1518, IpFamily::kV6, Traffic::kUdp), 1436u);
  EXPECT_EQ(PayloadOf(64, IpFamily::kV6, Traffic::kPlain), std::nullopt);
  EXPECT_EQ(PayloadOf(77, IpFamily::kV6, Traffic::kPlain), std::nullopt);
  EXPECT_EQ(PayloadOf(78, IpFamily::kV6, Traffic::kPlain), 12u);
}

TEST(ForwardPlan, CombinesEverythingAndSaysWhatCannotBe) {
  ForwardPlan plan;
  std::vector<std::string> impossible;
  EXPECT_EQ(CellsOf(plan, &impossible).size(), 2u * 3u * 2u * 7u);
  EXPECT_TRUE(impossible.empty());
  plan.families = {IpFamily::kV6};
  plan.only = {"v6-router-nft-plain"};
  const std::vector<ForwardCell> cells = CellsOf(plan, &impossible);
  ASSERT_EQ(cells.size(), 6u);
  EXPECT_EQ(cells[0].id, "v6-router-nft-plain-128");
  EXPECT_THAT(impossible, ElementsAre("IPv6 plain in frames of 64 bytes: its headers take 66",
                                      "IPv6 udp in frames of 64 bytes: its headers take 82"));
  EXPECT_EQ(CellToJson(plan, cells[0])["rules"], 100);
}

TEST(ForwardRules, AreOneForEachPacketToPass) {
  EXPECT_EQ(NftRules(Between::kKernelBridge, IpFamily::kV4, 2),
            "table bridge lab {\n chain forwarded {\n  type filter hook forward priority 0; policy "
            "accept;\n  ip saddr 240.0.0.1 drop\n  ip saddr 240.0.0.2 drop\n }\n}\n");
  EXPECT_THAT(NftRules(Between::kKernelRouter, IpFamily::kV6, 300),
              AllOf(HasSubstr("table inet"), HasSubstr("ip6 saddr 2001:db8::0:12c drop")));
  EXPECT_EQ(IptablesRules(IpFamily::kV4, 1),
            "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -s 240.0.0.1 -j DROP\nCOMMIT\n");
  EXPECT_THAT(IptablesRules(IpFamily::kV4, 70'000), HasSubstr("-s 240.1.17.112 -j"));
}

TEST(HostCpu, SharesAreOfAllCores) {
  const std::optional<HostCpu> start =
      HostCpu::Parse("cpu  100 0 50 800 10 0 20 20 0 0\ncpu0 1 2 3\n");
  const std::optional<HostCpu> end =
      HostCpu::Parse("cpu  130 10 70 820 10 0 40 20 0 0\ncpu0 1 2 3\n");
  ASSERT_TRUE(start && end);
  const HostLoad load = LoadBetween(*start, *end);  // 100 ticks, 20 of them idle
  EXPECT_DOUBLE_EQ(load.percent, 80);
  EXPECT_DOUBLE_EQ(load.softirq_percent, 20);
  EXPECT_FALSE(HostCpu::Parse("intr 5"));
  EXPECT_EQ(LoadBetween(*end, *end).percent, 0);
}

// Ways down, sizes across, and a dash where a way has no such size.
TEST(ForwardTable, IsThatOfTheExperiment) {
  Json document = {{"cells", Json::array()}};
  const auto add = [&](const char* id, int size, double bps) {
    document["cells"].push_back({{"id", id},
                                 {"frame_bytes", size},
                                 {"mean_bps", bps},
                                 {"ci95_bps", nullptr},
                                 {"runs", Json::array()}});
  };
  add("v4-bridge-none-plain-64", 64, 2.11e6);
  add("v4-bridge-none-plain-1518", 1518, 22.09e6);
  add("v4-bridge-nft-plain-1518", 1518, 19.91e6);
  EXPECT_EQ(ForwardMatrix(document),
            "Mbit/s, frame bytes               64      1518\n"
            "v4-bridge-none-plain            2.11     22.09\n"
            "v4-bridge-nft-plain                -     19.91\n");
}

}  // namespace
}  // namespace dccp::apps::lab
