// dccp-lab report.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/report_page.h"
#include "apps/dccp-lab/report_trace.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";

struct ReportOptions {
  std::vector<std::string> files;
  std::vector<std::string> traces;
  std::vector<std::uint16_t> udp_ports = {kDefaultUdpPort};
  std::string out;
  std::string plotly;
};

// The folder that a file is in tells more than its name, which is the same for all results. More
// of the path where that does not tell them apart.
std::vector<std::string> NamesOf(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    names.push_back(path.filename() == "results.json" ? path.parent_path().filename().string()
                                                      : path.stem().string());
  }
  std::vector<std::string> out = names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::count(names.begin(), names.end(), names[i]) > 1) out[i] = files[i];
  return out;
}

int RunReport(const ReportOptions& o) {
  if (o.files.empty() && o.traces.empty())
    return FailUsage(kTool, "report: name at least one results.json, or --trace FILE.pcap");
  Report report;
  std::string error;
  const std::vector<std::string> names = NamesOf(o.files);
  for (std::size_t i = 0; i < o.files.size(); ++i) {
    std::optional<Json> document = LoadResults(o.files[i], &error);
    if (!document) return Fail(kTool, error);
    report.sources.push_back({names[i], std::move(*document)});
  }
  for (const std::string& trace : o.traces) {
    std::optional<Json> figures = FiguresOfTrace(trace, o.udp_ports, &error);
    if (!figures) return Fail(kTool, error);
    if (!error.empty()) {
      Fail(kTool, error);
      report.notes.push_back(error);
    }
    for (Json& figure : *figures) {
      figure["id"] = fmt::format("trace-{}", report.trace_figures.size());
      report.trace_figures.push_back(std::move(figure));
    }
  }
  const std::optional<PlotLibrary> library = FindPlotLibrary(o.plotly, &error);
  if (!library && !o.plotly.empty())
    return Fail(kTool, fmt::format("{} is no plotly-basic.min.js", o.plotly));
  if (!library) Fail(kTool, error);
  if (!WriteReportFile(o.out, ReportPage(report, library), &error)) return Fail(kTool, error);
  return kExitDone;
}

}  // namespace

void AddReport(CLI::App* app, Command* run) {
  const auto o = std::make_shared<ReportOptions>();
  CLI::App* const sub =
      app->add_subcommand("report", "Tables and charts of results, one HTML file");
  sub->add_option("RESULTS", o->files, "results.json, of one plan or of several");
  sub->add_option("-o,--output", o->out, "The HTML file to write")->required();
  sub->add_option("--trace", o->traces, "Capture, for sequence plots (repeatable)");
  sub->add_option("--udp-port", o->udp_ports, "UDP ports of DCCP-UDP in captures (default 6511)")
      ->delimiter(',');
  sub->add_option("--plotly", o->plotly, "The plotly-basic.min.js to put in");
  sub->callback([o, run] { *run = [o] { return RunReport(*o); }; });
}

}  // namespace dccp::apps::lab
