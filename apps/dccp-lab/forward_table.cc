#include "apps/dccp-lab/forward_table.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

namespace {

const Json::json_pointer kReceivedPerSecond{"/received/packets_per_second"};
const Json::json_pointer kLost{"/received/lost_percent"};
const Json::json_pointer kBlastLost{"/blast/received/lost_percent"};
const Json::json_pointer kHostUs{"/cpu/host_us_per_packet"};
const Json::json_pointer kHost{"/cpu/host_percent"};
const Json::json_pointer kSoftirq{"/cpu/host_softirq_percent"};

std::string Mean(const Json& cell, const Json::json_pointer& figure, double scale, int digits) {
  const std::vector<double> values = FiguresOf(cell, figure);
  if (values.empty()) return "-";
  return fmt::format("{:.{}f}", dccp::lab::EstimateOf(values).mean * scale, digits);
}

std::string Number(const Json& value, double scale, int digits) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>() * scale, digits)
                           : std::string("-");
}

// What held the rate of all runs, or of some.
std::string LimitOf(const Json& cell) {
  std::string out;
  for (const Json& run : cell["runs"]) {
    const std::string limit = run.value("limit", "?");
    if (out.empty()) out = limit;
    if (out != limit) return "mixed";
  }
  return out;
}

}  // namespace

std::string ForwardMatrix(const Json& document) {
  std::set<std::size_t> sizes;
  std::vector<std::string> ways;
  std::map<std::string, std::map<std::size_t, std::string>> lines;
  for (const Json& cell : document["cells"]) {
    const std::string id = cell["id"].get<std::string>();
    const std::string way = id.substr(0, id.find_last_of('-'));
    const auto size = cell["frame_bytes"].get<std::size_t>();
    sizes.insert(size);
    if (lines.find(way) == lines.end()) ways.push_back(way);
    lines[way][size] = Number(cell["mean_bps"], 1e-6, 2);
  }
  std::string out = fmt::format("{:<26}", "Mbit/s, frame bytes");
  for (const std::size_t size : sizes) out += fmt::format(" {:>9}", size);
  out += "\n";
  for (const std::string& way : ways) {
    out += fmt::format("{:<26}", way);
    for (const std::size_t size : sizes) {
      const auto at = lines[way].find(size);
      out += fmt::format(" {:>9}", at == lines[way].end() ? "-" : at->second);
    }
    out += "\n";
  }
  return out;
}

std::string ForwardRows(const Json& document) {
  std::string out = fmt::format(
      "{:<26} {:>4} {:>9} {:>9} {:>9} {:>7} | {:>9} {:>7} | {:>8} {:>8} {:>7} {:>9} {:>8} | {}\n",
      "cell", "runs", "Mbit/s", "+- (95 %)", "frames/s", "lost %", "blast", "lost %", "sender %",
      "recv. %", "host %", "softirq %", "us/frame", "limit");
  for (const Json& cell : document["cells"])
    out += fmt::format(
        "{:<26} {:>4} {:>9} {:>9} {:>9} {:>7} | {:>9} {:>7} | {:>8} {:>8} {:>7} {:>9} {:>8} | {}\n",
        cell["id"].get<std::string>(), cell["runs"].size(), Number(cell["mean_bps"], 1e-6, 2),
        Number(cell["ci95_bps"], 1e-6, 2), Mean(cell, kReceivedPerSecond, 1, 0),
        Mean(cell, kLost, 1, 3), Mean(cell, kBlastBps, 1e-6, 2), Mean(cell, kBlastLost, 1, 2),
        Mean(cell, kSenderPercent, 1, 1), Mean(cell, kReceiverPercent, 1, 1),
        Mean(cell, kHost, 1, 1), Mean(cell, kSoftirq, 1, 1), Mean(cell, kHostUs, 1, 2),
        LimitOf(cell));
  return out;
}

}  // namespace dccp::apps::lab
