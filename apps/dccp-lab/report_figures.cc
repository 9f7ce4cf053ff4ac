#include "apps/dccp-lab/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "apps/dccp-lab/report_rates.h"
#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

namespace {

struct Point {
  double x = 0;
  double y = 0;
  double half_width = 0;
};

// From the least to the greatest of what was given, with room at the ends.
class Range {
 public:
  void Add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  Json Linear(double least) const {
    const double room = std::max(0.06 * (most_ - least_), 0.02 * most_);
    return {Rounded(std::max(least, least_ - room)), Rounded(most_ + room)};
  }
  Json Log() const { return {Rounded(least_ / 1.6), Rounded(most_ * 1.6)}; }
  Json FromZero() const { return {0, Rounded(most_ * 1.06)}; }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  double least_ = 1e300;
  double most_ = 0;
};

// Points by series, in the order in which those come up. Each series has a colour of its own, the
// same for all result files; files differ by how the line is drawn.
class SeriesSet {
 public:
  explicit SeriesSet(bool several) : several_(several) {}

  void Add(std::size_t source, const std::string& source_name, const std::string& name,
           const Point& point) {
    for (Series& known : series_)
      if (known.source == source && known.name == name) return known.points.push_back(point);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    series_.push_back({source, source_name, name, {point}});
  }
  bool empty() const { return series_.empty(); }
  bool has_lines() const {
    return std::any_of(series_.begin(), series_.end(),
                       [](const Series& s) { return s.points.size() > 1; });
  }
  Json Drawn(const char* kind) {
    static constexpr const char* kDashes[] = {"solid", "dash", "dot", "dashdot"};
    static constexpr const char* kSymbols[] = {"circle", "square", "diamond", "cross"};
    Json out = Json::array();
    for (Series& one : series_) {
      std::sort(one.points.begin(), one.points.end(),
                [](const Point& a, const Point& b) { return a.x < b.x; });
      Json x = Json::array(), y = Json::array(), error = Json::array();
      for (const Point& point : one.points) {
        x.push_back(point.x);
        y.push_back(Rounded(point.y));
        error.push_back(Rounded(point.half_width));
      }
      const auto color = std::find(names_.begin(), names_.end(), one.name) - names_.begin();
      const bool control = one.name == "plain UDP";
      out.push_back({{"name", several_ ? one.source_name + ": " + one.name : one.name},
                     {"kind", kind},
                     {"x", std::move(x)},
                     {"y", std::move(y)},
                     {"error_y", std::move(error)},
                     {"color", control ? -1 : static_cast<int>(color)},
                     {"dash", kDashes[one.source % 4]},
                     {"symbol", kSymbols[one.source % 4]}});
    }
    return out;
  }

 private:
  struct Series {
    std::size_t source = 0;
    std::string source_name;
    std::string name;
    std::vector<Point> points;
  };
  bool several_;
  std::vector<std::string> names_;
  std::vector<Series> series_;
};

// "40 ms, 1 %"
std::string PathText(const Json& cell) {
  const std::optional<double> rtt = NumberAt(cell, "/rtt_ms");
  const std::optional<double> loss = NumberAt(cell, "/loss");
  if (!rtt || !loss) return "other";
  return fmt::format("{:g} ms, {:g} % loss", *rtt, *loss * 100);
}

// Each cell's mean over the equation's rate, and its runs.
void AddRatio(std::span<const ReportSource> sources, Json* figures) {
  Json series = Json::array();
  std::set<std::string> rows;
  Range range;
  range.Add(1);
  int color = 0;
  for (const ReportSource& source : sources) {
    Json ids = Json::array(), ratios = Json::array(), errors = Json::array();
    Json run_ids = Json::array(), run_ratios = Json::array();
    Json known_ids = Json::array(), known = Json::array();
    for (const Json& cell : source.document["cells"]) {
      const std::optional<double> equation = EquationOf(cell);
      const std::optional<double> mean = NumberAt(cell, "/mean_bps");
      if (!equation || !mean) continue;
      const std::string id = TextAt(cell, "id");
      rows.insert(id);
      range.Add(*mean / *equation);
      ids.push_back(id);
      ratios.push_back(Rounded(*mean / *equation));
      errors.push_back(Rounded(NumberAt(cell, "/ci95_bps").value_or(0) / *equation));
      for (const double bps : RatesOf(cell)) {
        run_ids.push_back(id);
        run_ratios.push_back(Rounded(bps / *equation));
        range.Add(bps / *equation);
      }
      for (const double bps : PublishedRatesOf(cell)) {
        known_ids.push_back(id);
        known.push_back(Rounded(bps / *equation));
      }
    }
    if (ids.empty()) continue;
    const std::string prefix = sources.size() > 1 ? source.name + ": " : "";
    series.push_back({{"name", prefix + "single runs"},
                      {"kind", "points"},
                      {"x", std::move(run_ratios)},
                      {"y", std::move(run_ids)},
                      {"color", color},
                      {"faint", true}});
    if (!known.empty())
      series.push_back({{"name", prefix + "published, 2008"},
                        {"kind", "points"},
                        {"x", std::move(known)},
                        {"y", std::move(known_ids)},
                        {"symbol", "x-thin-open"},
                        {"color", -1}});
    series.push_back({{"name", prefix + "mean, 95 %"},
                      {"kind", "points"},
                      {"x", std::move(ratios)},
                      {"y", std::move(ids)},
                      {"error_x", std::move(errors)},
                      {"color", color++}});
  }
  if (series.empty()) return;
  figures->push_back(
      {{"id", "ratio"},
       {"title", "Measured over equation"},
       {"note",
        "Each cell's mean rate, with its 95 % confidence interval, over the rate of the TCP "
        "throughput equation at the configured loss and round trip. The band is 0.92 to 1.18; "
        "an ideal sender gets 1.00 to 1.09."},
       {"wide", true},
       {"height", 130 + 22 * rows.size()},
       {"x", {{"title", "measured / equation"}, {"type", "linear"}, {"range", range.Linear(0)}}},
       {"y", {{"title", ""}, {"type", "category"}, {"reversed", true}}},
       {"lines", {{{"x", 1}, {"label", ""}}}},
       {"bands", {{{"x0", 0.92}, {"x1", 1.18}}}},
       {"series", std::move(series)}});
}

void AddMeasuredAgainstEquation(std::span<const ReportSource> sources, Json* figures) {
  SeriesSet by_path(sources.size() > 1);
  Range range;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const Json& cell : sources[i].document["cells"]) {
      const std::optional<double> equation = EquationOf(cell);
      const std::optional<double> mean = NumberAt(cell, "/mean_bps");
      if (!equation || !mean || *mean <= 0) continue;
      by_path.Add(
          i, sources[i].name, PathText(cell),
          {Rounded(*equation / 1e3), *mean / 1e3, NumberAt(cell, "/ci95_bps").value_or(0) / 1e3});
      range.Add(*equation / 1e3);
      range.Add(*mean / 1e3);
    }
  }
  if (by_path.empty()) return;
  Json series = by_path.Drawn("points");
  series.push_back({{"name", "equal"},
                    {"kind", "line"},
                    {"x", range.Log()},
                    {"y", range.Log()},
                    {"color", -1},
                    {"dash", "dash"}});
  figures->push_back(
      {{"id", "measured"},
       {"title", "Measured against the equation"},
       {"note", "Mean rates with 95 % confidence intervals; both axes logarithmic."},
       {"wide", true},
       {"height", 460},
       {"x", {{"title", "equation, kbit/s"}, {"type", "log"}, {"range", range.Log()}}},
       {"y", {{"title", "measured, kbit/s"}, {"type", "log"}, {"range", range.Log()}}},
       {"series", std::move(series)}});
}

// What is drawn over the size: a figure of each run, of which the mean and its interval are drawn,
// and the cell's own for where runs have none.
struct SizeFigure {
  const char* id;
  const char* title;
  const char* y_title;
  bool logarithmic;
  const char* run_figure;
  const char* cell_figure;
  double scale;
};

constexpr SizeFigure kSizeFigures[] = {
    {"throughput", "Throughput", "Mbit/s", true, "/received/bits_per_second", "/mean_bps", 1e-6},
    {"sender-us", "CPU time of the sender", "µs per packet", true, "/cpu/local_us_per_packet",
     "/cpu/sender_us_per_packet", 1},
    {"receiver-us", "CPU time of the receiver", "µs per packet", true, "/cpu/remote_us_per_packet",
     "/cpu/receiver_us_per_packet", 1},
    {"sender-cpu", "CPU utilisation of the sender", "% of one core", false, "/cpu/local_percent",
     "/cpu/sender", 1},
    {"receiver-cpu", "CPU utilisation of the receiver", "% of one core", false,
     "/cpu/remote_percent", "/cpu/receiver", 1},
    {"blast", "Throughput under full load", "Mbit/s", true, "/blast/received/bits_per_second",
     "/blast_bps", 1e-6},
    {"host-us", "CPU time of the host", "µs per packet", true, "/cpu/host_us_per_packet",
     "/cpu/host_us_per_packet", 1},
    {"host-cpu", "CPU utilisation of the host", "% of all cores", false, "/cpu/host_percent",
     "/cpu/host_percent", 1},
    {"host-softirq", "Softirq share of the host", "% of all cores", false,
     "/cpu/host_softirq_percent", "/cpu/host_softirq_percent", 1}};

// "-router-ipv4" of "router, IPv4": what may stand in the id of an element.
std::string Slug(const std::string& text) {
  std::string out = text.empty() ? "" : "-";
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (out.back() != '-')
      out += '-';
  }
  return out;
}

Json FigureBySize(const SizeFigure& what, std::span<const ReportSource> sources,
                  const SeriesNames& names, const std::string& chart) {
  SeriesSet set(sources.size() > 1);
  Range range;
  std::set<double> sizes;
  const char* size_name = "";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const Json& cell : sources[i].document["cells"]) {
      const std::optional<double> size = SizeOf(cell);
      if (!size || *size <= 0 || EquationOf(cell)) continue;
      if (names.ChartOf(cell) != chart) continue;
      const std::vector<double> values = FiguresOf(cell, Json::json_pointer(what.run_figure));
      const dccp::lab::Estimate e = dccp::lab::EstimateOf(values);
      const std::optional<double> mean =
          values.empty() ? NumberAt(cell, what.cell_figure) : std::optional(e.mean);
      if (!mean || (what.logarithmic && *mean <= 0)) continue;
      const double y = *mean * what.scale;
      const double half_width = values.size() > 1 ? e.half_width * what.scale : 0;
      size_name = SizeName(cell);
      sizes.insert(*size);
      range.Add(y);
      range.Add(y + std::min(half_width, y));
      set.Add(i, sources[i].name, names.SeriesOf(cell), {*size, y, half_width});
    }
  }
  if (!set.has_lines()) return nullptr;
  return {{"id", what.id + Slug(chart)},
          {"title", chart.empty() ? what.title : fmt::format("{}, {}", what.title, chart)},
          {"note", "Means with 95 % confidence intervals."},
          {"height", 400},
          {"x", {{"title", size_name}, {"type", "log"}, {"ticks", sizes}}},
          {"y",
           {{"title", what.y_title},
            {"type", what.logarithmic ? "log" : "linear"},
            {"range", what.logarithmic ? range.Log() : range.FromZero()}}},
          {"series", set.Drawn("line")}};
}

void AddFiguresBySize(std::span<const ReportSource> sources, Json* figures) {
  const SeriesNames names(sources);
  std::set<std::string> charts;
  for (const ReportSource& source : sources)
    for (const Json& cell : source.document["cells"])
      if (!EquationOf(cell)) charts.insert(names.ChartOf(cell));
  for (const SizeFigure& what : kSizeFigures) {
    for (const std::string& chart : charts) {
      Json figure = FigureBySize(what, sources, names, chart);
      if (!figure.is_null()) figures->push_back(std::move(figure));
    }
  }
}

}  // namespace

Json FiguresOfResults(std::span<const ReportSource> sources) {
  Json figures = Json::array();
  AddRatio(sources, &figures);
  AddMeasuredAgainstEquation(sources, &figures);
  AddRatesOverTime(sources, &figures);
  AddFiguresBySize(sources, &figures);
  return figures;
}

}  // namespace dccp::apps::lab
