#include "apps/dccp-lab/report_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dccp::apps::lab {

namespace {

constexpr std::size_t kMostPoints = 300;  // of a run

struct Interval {
  double start = 0;
  double end = 0;
  double bps = 0;
  std::optional<double> lost;
  std::optional<double> loss_event_rate;
};

std::vector<Interval> IntervalsOf(const Json& run) {
  std::vector<Interval> out;
  for (const Json& one : MemberOf(run, "intervals")) {
    const std::optional<double> start = NumberAt(one, "/start_s");
    const std::optional<double> end = NumberAt(one, "/end_s");
    const std::optional<double> bps = NumberAt(one, "/bits_per_second");
    if (!start || !end || !bps || *end <= *start) continue;
    out.push_back(
        {*start, *end, *bps, NumberAt(one, "/lost_packets"), NumberAt(one, "/loss_event_rate")});
  }
  return out;
}

// Neighbours made one, until there are few enough.
std::vector<Interval> Thinned(const std::vector<Interval>& all) {
  const std::size_t step = (all.size() + kMostPoints - 1) / kMostPoints;
  if (step <= 1) return all;
  std::vector<Interval> out;
  for (std::size_t at = 0; at < all.size(); at += step) {
    Interval sum = all[at];
    double bits = sum.bps * (sum.end - sum.start);
    double seconds = sum.end - sum.start;
    for (std::size_t i = at + 1; i < std::min(at + step, all.size()); ++i) {
      const Interval& next = all[i];
      sum.end = next.end;
      bits += next.bps * (next.end - next.start);
      seconds += next.end - next.start;
      if (next.lost) sum.lost = sum.lost.value_or(0) + *next.lost;
      if (next.loss_event_rate) sum.loss_event_rate = next.loss_event_rate;
    }
    sum.bps = bits / seconds;
    out.push_back(sum);
  }
  return out;
}

Json MiddlesOf(const std::vector<Interval>& run) {
  Json x = Json::array();
  for (const Interval& one : run) x.push_back(Rounded((one.start + one.end) / 2));
  return x;
}

bool SameTimes(const std::vector<std::vector<Interval>>& runs) {
  for (const std::vector<Interval>& run : runs) {
    if (run.size() != runs[0].size()) return false;
    for (std::size_t i = 0; i < run.size(); ++i)
      if (std::abs(run[i].start - runs[0][i].start) > 0.1 * (run[i].end - run[i].start))
        return false;
  }
  return true;
}

void AddMean(const std::vector<std::vector<Interval>>& runs, double scale, Json* series) {
  if (runs.size() < 2 || !SameTimes(runs)) return;
  Json y = Json::array();
  for (std::size_t i = 0; i < runs[0].size(); ++i) {
    double sum = 0;
    for (const std::vector<Interval>& run : runs) sum += run[i].bps;
    y.push_back(Rounded(sum / static_cast<double>(runs.size()) * scale));
  }
  series->push_back({{"name", "mean of the runs"},
                     {"kind", "line"},
                     {"x", MiddlesOf(runs[0])},
                     {"y", std::move(y)},
                     {"color", 1},
                     {"strong", true}});
}

void AddReference(const std::string& name, double value, double from, double to, int panel,
                  Json* series) {
  series->push_back({{"name", name},
                     {"kind", "line"},
                     {"x", {Rounded(from), Rounded(to)}},
                     {"y", {Rounded(value), Rounded(value)}},
                     {"color", -1},
                     {"dash", "dash"},
                     {"panel", panel},
                     {"quiet", panel != 0}});
}

// The packets lost of all runs (panel 1) and the loss event rates (panel 2).
void AddLosses(const std::vector<std::vector<Interval>>& runs, Json* series) {
  for (const std::vector<Interval>& run : runs) {
    Json lost_x = Json::array(), lost = Json::array();
    Json rate_x = Json::array(), rate = Json::array();
    for (const Interval& one : run) {
      const double middle = Rounded((one.start + one.end) / 2);
      if (one.lost) {
        lost_x.push_back(middle);
        lost.push_back(*one.lost);
      }
      if (one.loss_event_rate) {
        rate_x.push_back(middle);
        rate.push_back(Rounded(*one.loss_event_rate * 100));
      }
    }
    if (!lost.empty())
      series->push_back({{"name", "packets lost"},
                         {"kind", "bars"},
                         {"x", std::move(lost_x)},
                         {"y", std::move(lost)},
                         {"color", 4},
                         {"panel", 1},
                         {"quiet", true}});
    if (!rate.empty())
      series->push_back({{"name", "loss event rate"},
                         {"kind", "line"},
                         {"x", std::move(rate_x)},
                         {"y", std::move(rate)},
                         {"color", 5},
                         {"faint", runs.size() > 1},
                         {"panel", 2},
                         {"quiet", true}});
  }
}

Json ChoiceOf(const std::string& label, const Json& cell) {
  std::vector<std::vector<Interval>> runs;
  double most = 0;
  double from = 1e300;
  double to = 0;
  for (const Json& run : cell["runs"]) {
    std::vector<Interval> intervals = Thinned(IntervalsOf(run));
    if (intervals.empty()) continue;
    for (const Interval& one : intervals) most = std::max(most, one.bps);
    from = std::min(from, intervals.front().start);
    to = std::max(to, intervals.back().end);
    runs.push_back(std::move(intervals));
  }
  if (runs.empty()) return nullptr;
  const RateUnit unit = RateUnitFor(most);
  Json series = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json y = Json::array();
    for (const Interval& one : runs[i]) y.push_back(Rounded(one.bps * unit.scale));
    series.push_back({{"name", runs.size() == 1 ? "rate" : "single runs"},
                      {"kind", "line"},
                      {"x", MiddlesOf(runs[i])},
                      {"y", std::move(y)},
                      {"color", 0},
                      {"faint", runs.size() > 1},
                      {"quiet", i != 0}});
  }
  AddMean(runs, unit.scale, &series);
  if (const std::optional<double> equation = NumberAt(cell, "/equation_bps"))
    AddReference("equation", *equation * unit.scale, from, to, 0, &series);
  AddLosses(runs, &series);
  const std::optional<double> loss = NumberAt(cell, "/loss");
  const bool rates = std::any_of(series.begin(), series.end(),
                                 [](const Json& s) { return s.value("panel", 0) == 2; });
  if (loss && rates) AddReference("configured loss", *loss * 100, from, to, 2, &series);
  Json choice = {{"label", label}, {"y_title", unit.name}, {"series", std::move(series)}};
  const double omitted = NumberAt(cell, "/omit_s").value_or(0);
  if (omitted > 0) choice["bands"] = {{{"x0", 0}, {"x1", omitted}, {"quiet", true}}};
  return choice;
}

}  // namespace

void AddRatesOverTime(std::span<const ReportSource> sources, Json* figures) {
  Json choices = Json::array();
  for (const ReportSource& source : sources) {
    for (const Json& cell : source.document["cells"]) {
      const std::string prefix = sources.size() > 1 ? source.name + ": " : "";
      Json choice = ChoiceOf(prefix + TextAt(cell, "id"), cell);
      if (!choice.is_null()) choices.push_back(std::move(choice));
    }
  }
  if (choices.empty()) return;
  figures->push_back(
      {{"id", "rates"},
       {"title", "Rate over time"},
       {"note",
        "Each run of one cell, with the losses in each interval: packets where the "
        "sender learnt of them, and the loss event rate at the interval's end. "
        "Grey is the time that does not count. Printed is the cell that is chosen here."},
       {"wide", true},
       {"height", 460},
       {"x", {{"title", "seconds"}, {"type", "linear"}}},
       {"y", {{"title", ""}, {"type", "linear"}, {"zero", true}}},
       {"panels", {"lost", "p, %"}},
       {"choices", std::move(choices)}});
}

}  // namespace dccp::apps::lab
