#include "apps/dccp-lab/report_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/report_assets.h"
#include "apps/dccp-lab/report_figures.h"
#include "apps/dccp-lab/report_tables.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kLibraryFile = "plotly-basic.min.js";
constexpr const char* kLicenseFile = "plotly.LICENSE";

// JSON that may stand in a script element: nothing in it can end that.
std::string ForScript(const Json& json) {
  std::string out;
  // Text of a file's name may be no UTF-8.
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string Section(const char* id, const char* title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, title, body);
}

std::string Chart(const Json& figure) {
  std::string choices;
  std::size_t index = 0;
  for (const Json& choice : MemberOf(figure, "choices"))
    choices += fmt::format("<option value=\"{}\">{}</option>", index++,
                           EscapeHtml(TextAt(choice, "label")));
  if (!choices.empty())
    choices = fmt::format("<label class=\"choice\">Shown: <select>{}</select></label>\n", choices);
  const std::string id = EscapeHtml(TextAt(figure, "id"));
  return fmt::format(
      "<figure id=\"{}\" class=\"chart{}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n{}"
      "<div class=\"plot\" role=\"img\" aria-label=\"{}\" style=\"min-height:{}px\"></div>\n"
      "</figure>\n",
      id, figure.value("wide", false) ? " wide" : "", EscapeHtml(TextAt(figure, "title")),
      EscapeHtml(TextAt(figure, "note")), choices, EscapeHtml(TextAt(figure, "title")),
      TextAt(figure, "height"));
}

std::string Charts(const Json& figures, bool drawable) {
  if (figures.empty()) return "";
  if (!drawable)
    return "<p class=\"note\">No charts: this report was made without plotly.js.</p>\n";
  std::string out = "<div class=\"charts\">\n";
  for (const Json& figure : figures) out += Chart(figure);
  return out + "</div>\n";
}

std::string Title(const Report& report) {
  std::string title = "dccp-lab";
  if (!report.sources.empty()) {
    const std::string command = TextAt(MemberOf(report.sources[0].document, "plan"), "command");
    title += command.empty() ? "" : " " + command;
  }
  const char* before = ": ";
  for (const ReportSource& source : report.sources) {
    title += before + source.name;
    before = ", ";
  }
  return title;
}

std::string Scripts(const Json& figures, const std::optional<PlotLibrary>& library) {
  if (!library || figures.empty()) return "";
  std::string license = library->license;
  for (std::size_t at = 0; (at = license.find("--", at)) != std::string::npos;)
    license.replace(at, 2, "- -");
  std::string out;
  if (!license.empty()) out += "<!-- plotly.js:\n" + license + "-->\n";
  out += "<script>" + library->script + "</script>\n";
  out += "<script type=\"application/json\" id=\"figures\">" + ForScript(figures) + "</script>\n";
  return out + "<script>" + kReportScript + "</script>\n";
}

}  // namespace

std::optional<PlotLibrary> FindPlotLibrary(const std::string& path, std::string* error) {
  std::vector<std::string> places;
  if (!path.empty()) {
    places.push_back(path);
  } else {
    std::error_code ignored;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const std::filesystem::path beside =
        self.parent_path().parent_path() / "share" / "udccp" / kLibraryFile;
    places.push_back(beside.string());
    places.push_back(std::string(UDCCP_SHARE_FOLDER "/") + kLibraryFile);
  }
  for (const std::string& place : places) {
    PlotLibrary library;
    library.script = ReadWholeFile(place);
    if (library.script.find("Plotly") == std::string::npos) continue;
    // It must not end the element that it stands in.
    if (library.script.find("</script") != std::string::npos) continue;
    library.license =
        ReadWholeFile((std::filesystem::path(place).parent_path() / kLicenseFile).string());
    return library;
  }
  if (places.size() > 1 && places[0] == places[1]) places.pop_back();
  *error = fmt::format(
      "tables only, no charts: no plotly.js in {}; --plotly FILE names a plotly-basic.min.js, a "
      "build with npm at hand brings one",
      fmt::join(places, " nor "));
  return std::nullopt;
}

std::string ReportPage(const Report& report, const std::optional<PlotLibrary>& library) {
  Json figures = FiguresOfResults(report.sources);
  for (const Json& figure : report.trace_figures) figures.push_back(figure);
  std::string notes, tables, cells, about;
  for (const std::string& note : report.notes)
    notes += fmt::format("<p class=\"note\">{}</p>\n", EscapeHtml(note));
  for (const ReportSource& source : report.sources) {
    tables += EquationTables(source);
    if (!source.document["cells"].empty()) cells += CellTable(source);
    about += SourceTable(source);
  }
  std::string comparison;
  if (report.sources.size() == 2)
    comparison = ComparisonTable(report.sources[0], report.sources[1]);
  const std::string title = EscapeHtml(Title(report));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<header><h1>{}</h1>\n"
      "<p>Made by dccp-lab {} on {:%Y-%m-%d %H:%M} UTC</p>\n{}</header>\n<main>\n{}{}{}{}{}"
      "</main>\n{}</body>\n</html>\n",
      title, kReportStyle, title, UDCCP_VERSION, fmt::gmtime(std::time(nullptr)), notes,
      Section("equation", "Rates and the equation", tables),
      Section("comparison", "Comparison", comparison),
      Section("charts", "Charts", Charts(figures, library.has_value())),
      Section("cells", "All cells", cells), Section("about", "How it was measured", about),
      Scripts(figures, library));
}

bool WriteReportFile(const std::string& path, const std::string& page, std::string* error) {
  const std::string fresh = path + ".new";
  std::FILE* const file = std::fopen(fresh.c_str(), "we");
  bool good = file != nullptr;
  if (good) {
    Put(file, page);
    good = std::fflush(file) == 0 && std::ferror(file) == 0;
    good = std::fclose(file) == 0 && good;
  }
  good = good && std::rename(fresh.c_str(), path.c_str()) == 0;
  if (good) return true;
  *error = fmt::format("cannot write {}: {}", path, ErrnoText());
  if (file != nullptr) std::remove(fresh.c_str());
  return false;
}

void WriteReportBeside(const Results& results, std::FILE* text) {
  if (results.document()["cells"].empty()) return;
  const std::filesystem::path folder = std::filesystem::path(results.path()).parent_path();
  Report report;
  report.sources.push_back({folder.filename().string(), results.document()});
  std::string error;
  const std::optional<PlotLibrary> library = FindPlotLibrary("", &error);
  if (!library) Fail("dccp-lab", error);
  const std::string path = (folder / "report.html").string();
  if (WriteReportFile(path, ReportPage(report, library), &error))
    Put(text, path + "\n");
  else
    Fail("dccp-lab", error);
}

}  // namespace dccp::apps::lab
