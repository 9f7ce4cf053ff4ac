#include "apps/dccp-lab/tfrc_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

namespace {

// Of mean / equation: what is taken for near, since loss events take in the losses of a round trip
// and an ideal sender gets up to 1.09.
constexpr double kLeastRatio = 0.92;
constexpr double kMostRatio = 1.18;
const Json::json_pointer kLate{"/emulator/delay_error_ms/p99"};

std::string Number(const Json& value, double scale, int digits) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>() * scale, digits)
                           : std::string("-");
}

// kbit/s with three digits or more.
std::string Rate(const Json& bps) {
  if (!bps.is_number()) return "-";
  const double kbps = bps.get<double>() / 1000;
  return fmt::format("{:.{}f}", kbps, kbps < 10 ? 2 : (kbps < 1000 ? 1 : 0));
}

std::string Row(const Json& cell) {
  const Json& cpu = cell["cpu"];
  std::string row = fmt::format(
      "{:<26} {:>4} {:>8} {:>7} {:>7} {:>8} {:>6} {:>7} |{:>6} {:>5} {:>5} |",
      cell["id"].get<std::string>(), cell["runs"].size(), Rate(cell["mean_bps"]),
      Rate(cell["stddev_bps"]), Rate(cell["ci95_bps"]), Rate(cell["equation_bps"]),
      Number(cell["ratio"], 1, 3), Number(cell["measured_rtt_ms"], 1, 2),
      Number(cpu["sender"], 1, 2), Number(cpu["receiver"], 1, 2), Number(cpu["emulator"], 1, 2));
  const Json& published = cell.value("published", Json());
  if (published.is_object())
    row += fmt::format(" {:>6} {:>6} {:>7}", Number(published["router_bps"], 1e-3, 0),
                       Number(published["bridge_bps"], 1e-3, 0),
                       "[" + Number(published["equation_bps"], 1e-3, 0) + "]");
  return row + "\n";
}

}  // namespace

Json TfrcSummary(const Json& document) {
  dccp::lab::RunningMoments deviation;
  dccp::lab::RunningMoments published;
  double worst = -1;
  double published_worst = 0;
  std::string worst_cell;
  std::size_t within = 0;
  double late = -1;
  double host = -1;
  for (const Json& cell : document["cells"]) {
    for (const double p99 : FiguresOf(cell, kLate)) late = std::max(late, p99);
    for (const double percent : FiguresOf(cell, kHostPercent)) host = std::max(host, percent);
    if (!cell.contains("ratio") || !cell["ratio"].is_number()) continue;
    const auto ratio = cell["ratio"].get<double>();
    const double off = 100 * std::abs(ratio - 1);
    deviation.Add(off);
    within += ratio >= kLeastRatio && ratio <= kMostRatio ? 1 : 0;
    if (off > worst) {
      worst = off;
      worst_cell = cell["id"].get<std::string>();
    }
    const Json& old = cell.value("published", Json());
    if (!old.is_object()) continue;
    for (const char* run : {"router_bps", "bridge_bps"}) {
      const double old_off =
          100 * std::abs(old[run].get<double>() / old["equation_bps"].get<double>() - 1);
      published.Add(old_off);
      published_worst = std::max(published_worst, old_off);
    }
  }
  const bool some = deviation.count() != 0;
  const bool some_old = published.count() != 0;
  const auto known = [](bool is, double value) { return is ? Json(value) : Json(nullptr); };
  return {{"cells", deviation.count()},
          {"within", within},
          {"least_ratio", kLeastRatio},
          {"most_ratio", kMostRatio},
          {"mean_absolute_deviation_percent", known(some, deviation.mean())},
          {"worst_percent", known(some, worst)},
          {"worst_cell", some ? Json(worst_cell) : Json(nullptr)},
          {"published_mean_absolute_deviation_percent", known(some_old, published.mean())},
          {"published_worst_percent", known(some_old, published_worst)},
          {"emulator_late_p99_ms", known(late >= 0, late)},
          {"host_percent", known(host >= 0, host)}};
}

std::string TfrcTable(const Json& document) {
  std::string out = fmt::format(
      "{:<26} {:>4} {:>8} {:>7} {:>7} {:>8} {:>6} {:>7} |{:>18} | {:>21}\n"
      "{:<26} {:>4} {:>8} {:>7} {:>7} {:>8} {:>6} {:>7} |{:>6} {:>5} {:>5} | {:>6} {:>6} {:>7}\n",
      "sent, kbit/s", "runs", "mean", "s.d.", "+- 95 %", "equation", "ratio", "RTT ms",
      "CPU %, one run", "2008, one run of 20 s", "", "", "", "", "", "", "", "", "send", "recv",
      "path", "router", "bridge", "[eq.]");
  for (const Json& cell : document["cells"]) out += Row(cell);
  const Json summary = TfrcSummary(document);
  if (summary["cells"] == 0) return out;
  out += fmt::format(
      "mean absolute deviation from the equation {} %, worst {} % ({}); {} of {} means within {} "
      "and {}\n",
      Number(summary["mean_absolute_deviation_percent"], 1, 1),
      Number(summary["worst_percent"], 1, 1), summary["worst_cell"].get<std::string>(),
      summary["within"].get<std::size_t>(), summary["cells"].get<std::size_t>(), kLeastRatio,
      kMostRatio);
  if (summary["published_worst_percent"].is_number())
    out += fmt::format("in 2008, of the cells above: mean absolute deviation {} %, worst {} %\n",
                       Number(summary["published_mean_absolute_deviation_percent"], 1, 1),
                       Number(summary["published_worst_percent"], 1, 1));
  if (summary["emulator_late_p99_ms"].is_number())
    out += fmt::format(
        "the emulated paths were late by at most {} ms (99th percentile of a cell); the host was "
        "{} % busy at most\n",
        Number(summary["emulator_late_p99_ms"], 1, 3), Number(summary["host_percent"], 1, 0));
  return out;
}

}  // namespace dccp::apps::lab
