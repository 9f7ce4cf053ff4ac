// The page of a report.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

// plotly.js, a file that the build may have put beside the programs.
struct PlotLibrary {
  std::string script;
  std::string license;  // "" where it came without
};
// Looks in share/udccp beside the program's folder and where it was installed, or only at `path`
// where that is not "". Nothing with `*error`, which says what can be done.
std::optional<PlotLibrary> FindPlotLibrary(const std::string& path, std::string* error);

struct Report {
  std::vector<ReportSource> sources;
  Json trace_figures = Json::array();  // of captures
  std::vector<std::string> notes;      // what is missing and why
};

// One HTML file without outside references. Without a library it has the tables, and a note in the
// charts' place.
std::string ReportPage(const Report& report, const std::optional<PlotLibrary>& library);

// Writes report.html into the folder of `results`, after each plan; says on `text` where it is, or
// on the standard error what is missing.
void WriteReportBeside(const Results& results, std::FILE* text = stdout);

// Whole or not at all.
bool WriteReportFile(const std::string& path, const std::string& page, std::string* error);

}  // namespace dccp::apps::lab
