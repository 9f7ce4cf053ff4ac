#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/dccp-lab/report_figures.h"
#include "apps/dccp-lab/report_page.h"
#include "apps/dccp-lab/report_tables.h"
#include "stack/lab/statistics.h"

namespace dccp::apps::lab {
namespace {

const Json* Find(const Json& figures, const std::string& id) {
  for (const Json& figure : figures)
    if (figure["id"] == id) return &figure;
  return nullptr;
}

Json RunOf(double bps) {
  return {{"received", {{"bits_per_second", bps}}},
          {"sent", {{"bits_per_second", bps * 2}}},
          {"cpu", {{"local_us_per_packet", 2.0}, {"local_percent", 50.0}}}};
}

Json EquationCell(const std::string& id, double rate, double equation) {
  return {{"id", id},
          {"family", 4},
          {"ccid", 3},
          {"payload_bytes", 1440},
          {"rtt_ms", 40},
          {"loss", 0.01},
          {"topology", "relay"},
          {"equation_bps", equation},
          {"mean_bps", rate},
          {"ci95_bps", rate / 10},
          {"published", {{"router_bps", 3.5e6}, {"bridge_bps", 3.26e6}}},
          {"runs", {RunOf(rate * 0.9), RunOf(rate * 1.1)}}};
}

ReportSource SourceOf(const std::string& name, Json cells) {
  return {name, {{"plan", {{"command", "x"}}}, {"host", Json::object()}, {"cells", cells}}};
}

TEST(ReportFigures, ShowTheRatioToTheEquation) {
  const std::vector<ReportSource> sources = {
      SourceOf("one", {EquationCell("a", 3e6, 2e6), EquationCell("b", 1e6, 2e6)})};
  const Json figures = FiguresOfResults(sources);
  const Json* const ratio = Find(figures, "ratio");
  ASSERT_NE(ratio, nullptr);
  const Json& series = (*ratio)["series"];
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0]["x"], Json({1.35, 1.65, 0.45, 0.55}));  // runs
  EXPECT_EQ(series[1]["x"], Json({1.75, 1.63, 1.75, 1.63}));  // published
  EXPECT_EQ(series[2]["x"], Json({1.5, 0.5}));
  EXPECT_EQ(series[2]["error_x"], Json({0.15, 0.05}));
  EXPECT_EQ(series[2]["y"], Json({"a", "b"}));
  ASSERT_NE(Find(figures, "measured"), nullptr);
  EXPECT_EQ(Find(figures, "rates"), nullptr);       // no run has intervals
  EXPECT_EQ(Find(figures, "throughput"), nullptr);  // not a measurement by size
}

TEST(ReportFigures, TakeTheRateThatWasToBeMeasured) {
  Json cell = EquationCell("a", 1e6, 1e6);
  cell["measure"] = "sent";
  const std::vector<ReportSource> sources = {SourceOf("one", {cell})};
  EXPECT_EQ((*Find(FiguresOfResults(sources), "ratio"))["series"][0]["x"], Json({1.8, 2.2}));
}

Json SizeCell(int family, const char* encap, int size) {
  return {{"id", "x"},
          {"family", family},
          {"ccid", 2},
          {"encap", encap},
          {"payload_bytes", size},
          {"mean_bps", 11e6},
          {"runs", {RunOf(10e6), RunOf(12e6)}}};
}

TEST(ReportFigures, ShowThroughputAndCpuBySize) {
  Json cells = Json::array();
  for (const int family : {4, 6})
    for (const char* encap : {"udp", "native"})
      for (const int size : {1440, 32}) cells.push_back(SizeCell(family, encap, size));
  const std::vector<ReportSource> sources = {SourceOf("one", cells)};
  const Json figures = FiguresOfResults(sources);
  const Json* const throughput = Find(figures, "throughput-ipv6");
  ASSERT_NE(throughput, nullptr);
  const Json& series = (*throughput)["series"];
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0]["name"], "DCCP-UDP");  // the CCID is the same in all
  EXPECT_EQ(series[1]["name"], "native");
  EXPECT_EQ(series[0]["x"], Json({32.0, 1440.0}));
  EXPECT_EQ(series[0]["y"], Json({11.0, 11.0}));
  const double runs[] = {10, 12};
  EXPECT_NEAR(series[0]["error_y"][0].get<double>(), dccp::lab::EstimateOf(runs).half_width, 1e-3);
  ASSERT_NE(Find(figures, "sender-us-ipv4"), nullptr);
  ASSERT_NE(Find(figures, "sender-cpu-ipv4"), nullptr);
  EXPECT_EQ(Find(figures, "receiver-us-ipv4"), nullptr);  // no run knows it
  EXPECT_EQ(Find(figures, "ratio"), nullptr);
}

TEST(ReportFigures, NameSeriesByWhatTellsThemApart) {
  Json cells = Json::array();
  for (const char* topology : {"bridge", "router"}) {
    for (const char* encap : {"plain", "udp"}) {
      for (const int size : {64, 1518}) {
        Json cell = SizeCell(4, encap, size);
        cell["topology"] = topology;
        cell["frame_bytes"] = size;
        if (encap[0] == 'p') cell["ccid"] = nullptr;
        for (const char* firewall : {"none", "nft"}) {
          cell["firewall"] = firewall;
          cell["rules"] = firewall[1] == 'o' ? 0 : 100;
          cells.push_back(cell);
        }
      }
    }
  }
  const std::vector<ReportSource> sources = {SourceOf("one", cells)};
  const Json figures = FiguresOfResults(sources);
  const Json* const figure = Find(figures, "throughput-router");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ((*figure)["title"], "Throughput, router");
  EXPECT_EQ((*figure)["x"]["title"], "frame, bytes");
  std::vector<std::string> names;
  for (const Json& series : (*figure)["series"]) names.push_back(series["name"]);
  // The CCID follows from the encapsulation, the number of rules from the firewall.
  EXPECT_EQ(names, (std::vector<std::string>{"no rules, plain UDP", "nft, plain UDP",
                                             "no rules, DCCP-UDP", "nft, DCCP-UDP"}));
}

TEST(ReportFigures, KeepBitsAndLossesWhenTheyThinIntervals) {
  Json intervals = Json::array();
  for (int i = 0; i < 900; ++i)
    intervals.push_back({{"start_s", i},
                         {"end_s", i + 1},
                         {"bits_per_second", 1000.0 * (i % 3)},
                         {"lost_packets", i == 5 ? 7 : 0},
                         {"loss_event_rate", 0.02}});
  Json cell = EquationCell("a", 1e3, 1e3);
  for (Json& run : cell["runs"]) run["intervals"] = intervals;
  const std::vector<ReportSource> sources = {SourceOf("one", {cell})};
  const Json figures = FiguresOfResults(sources);
  ASSERT_NE(Find(figures, "rates"), nullptr);
  const Json& choice = (*Find(figures, "rates"))["choices"][0];
  EXPECT_EQ(choice["label"], "a");
  const Json& series = choice["series"];
  // Two runs, their mean, the equation; two times losses and loss event rates; the configured loss.
  ASSERT_EQ(series.size(), 9u);
  ASSERT_EQ(series[0]["x"].size(), 300u);
  EXPECT_EQ(series[0]["x"][1], 4.5);
  EXPECT_EQ(series[0]["y"][1], 1.0);  // kbit/s, of 0, 1 and 2
  EXPECT_EQ(series[2]["name"], "mean of the runs");
  EXPECT_EQ(series[4]["kind"], "bars");
  EXPECT_EQ(series[4]["y"][1], 7.0);
  EXPECT_EQ(series[5]["y"][1], 2.0);  // percent
}

TEST(ReportFigures, LeaveOutWhatIsNoFigure) {
  Json broken = EquationCell("a", 1e6, 1e6);
  broken["mean_bps"] = nullptr;
  broken["loss"] = "1%";
  broken["published"] = 3;
  broken["runs"] = {1, nullptr, {{"intervals", 4}}, {{"intervals", {{{"start_s", "x"}}, 3}}}};
  const Json bare = {{"id", "b"}, {"runs", Json::array()}};
  const std::vector<ReportSource> sources = {SourceOf("one", {broken, bare})};
  EXPECT_TRUE(FiguresOfResults(sources).empty());
  EXPECT_EQ(EquationTables(sources[0]), "");
  EXPECT_NE(CellTable(sources[0]).find(">b</th>"), std::string::npos);
  EXPECT_NE(SourceTable(sources[0]).find("command"), std::string::npos);
}

TEST(ReportTables, MarkCellsFarFromTheEquation) {
  const std::string near = EquationTables(SourceOf("one", {EquationCell("a", 1.1e6, 1e6)}));
  EXPECT_NE(near.find("<b>1100</b> ± 110"), std::string::npos) << near;
  EXPECT_NE(near.find("[1000]"), std::string::npos);
  EXPECT_NE(near.find("3500 / 3260"), std::string::npos);
  EXPECT_EQ(near.find("figure high"), std::string::npos);
  const std::string far = EquationTables(SourceOf("one", {EquationCell("a", 1.2e6, 1e6)}));
  EXPECT_NE(far.find("figure high"), std::string::npos);
}

Report ReportOf(const std::string& id) {
  Report report;
  report.sources.push_back(SourceOf(id, {EquationCell(id, 1e6, 1e6)}));
  return report;
}

TEST(ReportPage, LetsNoNameBecomeMarkup) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'&\xFF";
  const std::string page = ReportPage(ReportOf(hostile), PlotLibrary{"Plotly", "a --> b"});
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("a -->"), std::string::npos);
  EXPECT_NE(page.find("&lt;img"), std::string::npos);
  EXPECT_NE(page.find("\\u003cimg"), std::string::npos);
}

TEST(ReportPage, SaysThatItHasNoChartsWithoutTheLibrary) {
  const std::string without = ReportPage(ReportOf("a"), std::nullopt);
  EXPECT_NE(without.find("No charts"), std::string::npos);
  EXPECT_EQ(without.find("<script"), std::string::npos);
  const std::string with = ReportPage(ReportOf("a"), PlotLibrary{"Plotly", ""});
  EXPECT_EQ(with.find("No charts"), std::string::npos);
  EXPECT_NE(with.find("id=\"ratio\""), std::string::npos);
}

TEST(ReportPage, ComparesTwoFiles) {
  Report report = ReportOf("a");
  EXPECT_EQ(ReportPage(report, std::nullopt).find("Welch"), std::string::npos);
  report.sources.push_back(report.sources[0]);
  report.sources[1].name = "b";
  const std::string page = ReportPage(report, std::nullopt);
  EXPECT_NE(page.find("b against a: Welch"), std::string::npos);
  EXPECT_NE(page.find("no significant difference"), std::string::npos);
}

}  // namespace
}  // namespace dccp::apps::lab
