#include "tests/accuracy/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace dccp::accuracy {
namespace {

using Json = nlohmann::ordered_json;

std::string Target(const lab::Measure& m) {
  std::string text;
  if (m.least && m.most) {
    text = fmt::format("{:.4g} to {:.4g}", *m.least, *m.most);
  } else if (m.least) {
    text = fmt::format("at least {:.4g}", *m.least);
  } else if (m.most) {
    text = fmt::format("at most {:.4g}", *m.most);
  }
  if (m.precision) text += fmt::format(", to {:g} %", 100 * *m.precision);
  if (!text.empty() && m.over == lab::Measure::Over::kEachRun) text += ", each run";
  return text;
}

std::string Verdict(const lab::MeasureResult& r) {
  if (!r.has_target) return "";
  return r.met ? "met" : "MISSED";
}

// What it takes is written without an exponent as long as that is readable.
std::string Number(double value) {
  if (value != 0 && std::abs(value) < 1e-4) return fmt::format("{:.3g}", value);
  if (std::abs(value) < 100) return fmt::format("{:.4f}", value);
  return fmt::format("{:.1f}", value);
}

Json Value(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json ToJson(const lab::Measure& measure, const lab::MeasureResult& result) {
  const lab::Estimate& e = result.estimate;
  Json json = {{"name", measure.name},    {"mean", Value(e.mean)},
               {"sd", Value(e.sd)},       {"half_width_95", Value(e.half_width)},
               {"least", Value(e.least)}, {"most", Value(e.most)},
               {"values", result.values}};
  if (measure.least) json["target_least"] = *measure.least;
  if (measure.most) json["target_most"] = *measure.most;
  if (measure.precision) json["target_precision"] = *measure.precision;
  if (result.has_target) json["met"] = result.met;
  return json;
}

}  // namespace

std::string TextReport(std::span<const lab::CellResult> results, const ReportHead& head) {
  std::string out;
  std::string section;
  for (const lab::CellResult& result : results) {
    const lab::Cell& cell = *result.cell;
    if (cell.section != section) {
      section = cell.section;
      out += fmt::format("\n== {} ==\n{:<46}{:>11}{:>10}{:>10}{:>5}  {:<28}{}\n", section, "",
                         "mean", "sd", "+- 95 %", "runs", "target", "verdict");
    }
    out += fmt::format("{}\n", cell.name);
    for (std::size_t i = 0; i < cell.measures.size(); ++i) {
      const lab::MeasureResult& r = result.measures[i];
      out +=
          fmt::format("  {:<44}{:>11}{:>10}{:>10}{:>5}  {:<28}{}\n", cell.measures[i].name,
                      Number(r.estimate.mean), Number(r.estimate.sd), Number(r.estimate.half_width),
                      r.estimate.n, Target(cell.measures[i]), Verdict(r));
    }
  }
  const Verdicts verdicts = CountVerdicts(results);
  out += fmt::format("\n{} figures with a target, {} missed; seeds from {}; {:.0f} s\n",
                     verdicts.with_target, verdicts.missed, head.first_seed, head.seconds);
  return out;
}

std::string JsonReport(std::span<const lab::CellResult> results, const ReportHead& head) {
  Json cells = Json::array();
  for (const lab::CellResult& result : results) {
    Json measures = Json::array();
    for (std::size_t i = 0; i < result.cell->measures.size(); ++i)
      measures.push_back(ToJson(result.cell->measures[i], result.measures[i]));
    cells.push_back({{"section", result.cell->section},
                     {"name", result.cell->name},
                     {"runs", result.cell->seeds},
                     {"met", result.met()},
                     {"measures", std::move(measures)}});
  }
  const Verdicts verdicts = CountVerdicts(results);
  const Json json = {{"first_seed", head.first_seed},
                     {"seconds", head.seconds},
                     {"targets", verdicts.with_target},
                     {"missed", verdicts.missed},
                     {"cells", std::move(cells)}};
  return json.dump(1) + "\n";
}

Verdicts CountVerdicts(std::span<const lab::CellResult> results) {
  Verdicts verdicts;
  for (const lab::CellResult& result : results) {
    for (const lab::MeasureResult& measure : result.measures) {
      if (measure.has_target) ++verdicts.with_target;
      if (!measure.met) ++verdicts.missed;
    }
  }
  return verdicts;
}

}  // namespace dccp::accuracy
