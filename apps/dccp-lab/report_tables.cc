#include "apps/dccp-lab/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "apps/dccp-lab/compare.h"
#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

namespace {

const Json::json_pointer kHostUs("/cpu/host_us_per_packet");
constexpr double kLeastRatio = 0.92;
constexpr double kMostRatio = 1.18;

std::string Table(const std::string& caption, const std::string& head, const std::string& rows) {
  return fmt::format(
      "<p class=\"caption\">{}</p>\n<div class=\"scroll\" "
      "tabindex=\"0\"><table>\n<thead>{}</thead>\n"
      "<tbody>\n{}</tbody></table></div>\n",
      caption, head, rows);
}

// Three significant digits or more.
std::string Short(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 0.001) return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

// "host softirq percent" of "host_softirq_percent"
std::string Words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string ValueText(const Json& value) {
  if (value.is_string()) return EscapeHtml(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return EscapeHtml(value.dump());
}

// Rows of what an object says; objects within it as one row for each of their members.
std::string PropertyRows(const Json& object, const std::string& prefix) {
  std::string rows;
  if (!object.is_object()) return rows;
  for (const auto& [name, value] : object.items()) {
    const std::string label = prefix + Words(name);
    if (value.is_object())
      rows += PropertyRows(value, label + ": ");
    else if (!value.is_null())
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td></tr>\n",
                          EscapeHtml(label), ValueText(value));
  }
  return rows;
}

struct PathKey {
  double rtt_ms = 0;
  double loss = 0;
  bool operator<(const PathKey& o) const {
    return std::tie(rtt_ms, loss) < std::tie(o.rtt_ms, o.loss);
  }
};

struct ColumnKey {
  std::string family;
  std::string more;  // CCID and encapsulation, where they differ
  double size = 0;
  // As it was published: IPv6 first, large first.
  bool operator<(const ColumnKey& o) const {
    return std::tie(o.family, more, o.size) < std::tie(family, o.more, size);
  }
};

std::string EquationCell(const Json& cell) {
  const std::optional<double> mean = NumberAt(cell, "/mean_bps");
  const double equation = NumberAt(cell, "/equation_bps").value_or(0);
  if (!mean || equation <= 0) return "<td>-</td>";
  const double ratio = *mean / equation;
  const std::optional<double> half_width = NumberAt(cell, "/ci95_bps");
  const char* mark = ratio < kLeastRatio ? " low" : ratio > kMostRatio ? " high" : "";
  std::string published;
  for (const double bps : PublishedRatesOf(cell))
    published += fmt::format("{}{:g}", published.empty() ? "" : " / ", bps / 1e3);
  return fmt::format(
      "<td class=\"figure{}\"><b>{}</b>{}<br>[{}]&ensp;<span class=\"ratio\">{:.3f}</span>{}</td>",
      mark, Short(*mean / 1e3),
      half_width ? fmt::format(" ± {}", Short(*half_width / 1e3)) : std::string(),
      Short(equation / 1e3), ratio,
      published.empty() ? "" : fmt::format("<br><i>{}</i>", published));
}

// What the cells of one topology say.
struct EquationGrid {
  std::map<PathKey, std::map<ColumnKey, const Json*>> rows;
  std::set<ColumnKey> columns;
  bool published = false;
};

std::string GridTable(const std::string& topology, const EquationGrid& grid) {
  std::string head = "<tr><th scope=\"col\">round trip, loss</th>";
  for (const ColumnKey& column : grid.columns)
    head += fmt::format("<th scope=\"col\">IPv{}{}<br>{:g} bytes</th>", EscapeHtml(column.family),
                        EscapeHtml(column.more), column.size);
  std::string rows;
  for (const auto& [path, cells] : grid.rows) {
    rows += fmt::format("<tr><th scope=\"row\">{:g} ms, {:g} %</th>", path.rtt_ms, path.loss * 100);
    for (const ColumnKey& column : grid.columns) {
      const auto cell = cells.find(column);
      rows += cell == cells.end() ? "<td></td>" : EquationCell(*cell->second);
    }
    rows += "</tr>\n";
  }
  const std::string caption =
      fmt::format("{}: mean ± 95 % interval, kbit/s; [equation]; ratio, marked outside {} to {}{}",
                  topology.empty() ? "All cells" : "Topology " + EscapeHtml(topology), kLeastRatio,
                  kMostRatio, grid.published ? "; <i>published in 2008: router / bridge</i>" : "");
  return Table(caption, head + "</tr>", rows);
}

// A column of the table of all cells; "" where the cell lacks the figure.
struct Column {
  std::string title;
  std::function<std::string(const Json&)> text;
};

Column Numeric(std::string title, const char* pointer, double scale = 1) {
  return {std::move(title), [pointer, scale](const Json& cell) {
            const std::optional<double> value = NumberAt(cell, pointer);
            return value ? Short(*value * scale) : std::string();
          }};
}

std::vector<Column> CellColumns(const RateUnit& unit) {
  return {{"runs", [](const Json& cell) { return std::to_string(cell["runs"].size()); }},
          Numeric(fmt::format("mean, {}", unit.name), "/mean_bps", unit.scale),
          Numeric("± 95 %", "/ci95_bps", unit.scale),
          Numeric("std. dev.", "/stddev_bps", unit.scale),
          Numeric("equation", "/equation_bps", unit.scale),
          Numeric("ratio", "/ratio"),
          Numeric("sender CPU, %", "/cpu/sender"),
          Numeric("sender, µs per packet", "/cpu/sender_us_per_packet"),
          Numeric("receiver CPU, %", "/cpu/receiver"),
          Numeric("receiver, µs per packet", "/cpu/receiver_us_per_packet"),
          Numeric("emulator CPU, %", "/cpu/emulator"),
          {"host, µs per packet",
           [](const Json& cell) {
             const std::vector<double> runs = FiguresOf(cell, kHostUs);
             return runs.empty() ? std::string() : Short(dccp::lab::EstimateOf(runs).mean);
           }},
          Numeric("host CPU, %", "/cpu/host_percent"),
          Numeric("host softirq, %", "/cpu/host_softirq_percent")};
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string SourceTable(const ReportSource& source) {
  std::size_t runs = 0;
  for (const Json& cell : source.document["cells"]) runs += cell["runs"].size();
  std::string rows = PropertyRows({{"cells", source.document["cells"].size()}, {"runs", runs}}, "");
  rows += PropertyRows(MemberOf(source.document, "summary"), "");
  rows += PropertyRows(MemberOf(source.document, "host"), "");
  rows += PropertyRows(MemberOf(source.document, "plan"), "plan: ");
  return Table(EscapeHtml(source.name), "", rows);
}

std::string EquationTables(const ReportSource& source) {
  std::set<std::string> kinds;
  const auto kind = [](const Json& cell) {
    return fmt::format(", CCID {} {}", TextAt(cell, "ccid"), TextAt(cell, "encap"));
  };
  for (const Json& cell : source.document["cells"]) kinds.insert(kind(cell));
  std::map<std::string, EquationGrid> by_topology;
  for (const Json& cell : source.document["cells"]) {
    const std::optional<double> rtt = NumberAt(cell, "/rtt_ms");
    const std::optional<double> loss = NumberAt(cell, "/loss");
    const std::optional<double> size = SizeOf(cell);
    if (!NumberAt(cell, "/equation_bps") || !rtt || !loss || !size) continue;
    EquationGrid& grid = by_topology[TextAt(cell, "topology")];
    const ColumnKey column = {TextAt(cell, "family"), kinds.size() > 1 ? kind(cell) : "", *size};
    grid.columns.insert(column);
    grid.rows[{*rtt, *loss}][column] = &cell;
    grid.published = grid.published || !PublishedRatesOf(cell).empty();
  }
  std::string out;
  for (const auto& [topology, grid] : by_topology) out += GridTable(topology, grid);
  return out;
}

std::string CellTable(const ReportSource& source) {
  double most = 0;
  const Json& cells = source.document["cells"];
  for (const Json& cell : cells) most = std::max(most, NumberAt(cell, "/mean_bps").value_or(0));
  const RateUnit unit = RateUnitFor(most);
  std::vector<Column> columns = CellColumns(unit);
  std::erase_if(columns, [&](const Column& column) {
    return std::all_of(cells.begin(), cells.end(),
                       [&](const Json& cell) { return column.text(cell).empty(); });
  });
  std::string head = "<tr><th scope=\"col\">cell</th>";
  for (const Column& column : columns)
    head += fmt::format("<th scope=\"col\">{}</th>", EscapeHtml(column.title));
  std::string rows;
  for (const Json& cell : cells) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", EscapeHtml(TextAt(cell, "id")));
    for (const Column& column : columns) {
      const std::string text = column.text(cell);
      rows += fmt::format("<td>{}</td>", text.empty() ? "-" : text);
    }
    rows += "</tr>\n";
  }
  return Table(EscapeHtml(source.name), head + "</tr>", rows);
}

std::string ComparisonTable(const ReportSource& first, const ReportSource& second) {
  std::string rows;
  for (const ComparedRow& row : CompareResults(first.document, second.document)) {
    const Comparison& c = row.comparison;
    const double percent = c.first != 0 ? 100 / c.first : 0;
    const bool tested = c.verdict != Comparison::Verdict::kTooFewRuns;
    const std::string verdict = row.verdict();
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{:.3f}</td><td>{:.3f}</td>"
        "<td>{:+.2f} %{}</td><td class=\"text {}\">{}</td></tr>\n",
        EscapeHtml(row.id), EscapeHtml(row.figure), c.first * row.scale, c.second * row.scale,
        c.difference * percent,
        tested ? fmt::format(" ± {:.2f}", std::abs(c.half_width * percent)) : std::string(),
        verdict == "faster" || verdict == "slower" ? verdict : "", verdict);
  }
  if (rows.empty()) return "";
  const std::string caption = fmt::format(
      "{} against {}: Welch's t-test, 5 %, two-sided; differences with their 95 % interval",
      EscapeHtml(second.name), EscapeHtml(first.name));
  return Table(
      caption,
      "<tr><th scope=\"col\">cell</th><th scope=\"col\" class=\"text\">figure</th>"
      "<th scope=\"col\">first</th><th scope=\"col\">second</th>"
      "<th scope=\"col\">difference</th><th scope=\"col\" class=\"text\">verdict</th></tr>",
      rows);
}

}  // namespace dccp::apps::lab
