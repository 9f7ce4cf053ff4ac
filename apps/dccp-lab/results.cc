#include "apps/dccp-lab/results.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <thread>

#include "apps/common/text.h"
#include "apps/dccp-lab/child.h"
#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

namespace {

bool WriteFile(const std::string& path, const std::string& text, std::string* error) {
  const std::string fresh = path + ".new";
  std::FILE* const file = std::fopen(fresh.c_str(), "we");
  bool good = file != nullptr;
  if (good) {
    Put(file, text);
    good = std::fflush(file) == 0 && std::ferror(file) == 0 && ::fsync(::fileno(file)) == 0;
    good = std::fclose(file) == 0 && good;
  }
  good = good && std::rename(fresh.c_str(), path.c_str()) == 0;
  if (!good) *error = fmt::format("cannot write {}: {}", path, ErrnoText());
  return good;
}

Json MeanOf(const Json& cell, const Json::json_pointer& figure) {
  const std::vector<double> values = FiguresOf(cell, figure);
  return values.empty() ? Json(nullptr) : Json(dccp::lab::EstimateOf(values).mean);
}

void SumUp(Json* cell) {
  const std::vector<double> values = FiguresOf(*cell, MeasureOf(*cell));
  const dccp::lab::Estimate e = dccp::lab::EstimateOf(values);
  const bool several = values.size() > 1;
  (*cell)["mean_bps"] = values.empty() ? Json(nullptr) : Json(e.mean);
  (*cell)["stddev_bps"] = several ? Json(e.sd) : Json(nullptr);
  (*cell)["ci95_bps"] = several ? Json(e.half_width) : Json(nullptr);
  (*cell)["cpu"] = {{"sender", MeanOf(*cell, kSenderPercent)},
                    {"receiver", MeanOf(*cell, kReceiverPercent)},
                    {"sender_us_per_packet", MeanOf(*cell, kSenderUs)},
                    {"receiver_us_per_packet", MeanOf(*cell, kReceiverUs)},
                    {"emulator", MeanOf(*cell, kEmulatorPercent)},
                    {"host_percent", MeanOf(*cell, kHostPercent)},
                    {"host_softirq_percent", MeanOf(*cell, kHostSoftirqPercent)}};
  (*cell)["measured_rtt_ms"] = MeanOf(*cell, kRttMean);
  if (!cell->contains("equation_bps") || !(*cell)["equation_bps"].is_number()) return;
  (*cell)["ratio"] =
      values.empty() ? Json(nullptr) : Json(e.mean / (*cell)["equation_bps"].get<double>());
}

std::string Csv(const Json& document) {
  std::string out =
      "id,family,ccid,encap,payload_bytes,runs,mean_bps,stddev_bps,ci95_bps,sender_percent,"
      "receiver_percent,sender_us_per_packet,receiver_us_per_packet,emulator_percent,"
      "measured_rtt_ms,equation_bps,ratio\n";
  const auto plain = [](const Json& value) {
    if (value.is_null()) return std::string();
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const Json& cell : document["cells"]) {
    for (const char* name : {"id", "family", "ccid", "encap", "payload_bytes"})
      out += plain(cell.value(name, Json())) + ",";
    out += std::to_string(cell["runs"].size());
    for (const char* name : {"mean_bps", "stddev_bps", "ci95_bps"}) out += "," + plain(cell[name]);
    for (const char* name :
         {"sender", "receiver", "sender_us_per_packet", "receiver_us_per_packet", "emulator"})
      out += "," + plain(cell["cpu"].value(name, Json()));
    for (const char* name : {"measured_rtt_ms", "equation_bps", "ratio"})
      out += "," + plain(cell.value(name, Json()));
    out += "\n";
  }
  return out;
}

}  // namespace

std::optional<Results> Results::Open(const std::string& folder, const Json& plan, bool resume,
                                     std::string* error) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    *error = fmt::format("cannot make {}: {}", folder, ErrnoText());
    return std::nullopt;
  }
  Results results;
  results.folder_ = folder;
  if (::access(results.path().c_str(), F_OK) != 0) {
    results.document_ = {{"plan", plan}, {"host", DescribeHost()}, {"cells", Json::array()}};
    return results;
  }
  if (!resume) {
    *error = fmt::format("{} is there: --resume goes on with it, --out DIR leaves it alone",
                         results.path());
    return std::nullopt;
  }
  std::optional<Json> found = LoadResults(results.path(), error);
  if (!found) return std::nullopt;
  if ((*found)["plan"] != plan) {
    *error = fmt::format("{} is of another plan ({}); --out DIR leaves it alone", results.path(),
                         (*found)["plan"].dump());
    return std::nullopt;
  }
  results.document_ = std::move(*found);
  for (Json& cell : results.document_["cells"]) {
    Json whole = Json::array();
    for (Json& run : cell["runs"])
      if (!run.contains("partial")) whole.push_back(std::move(run));
    cell["runs"] = std::move(whole);
    SumUp(&cell);
  }
  return results;
}

const Json* Results::Find(const std::string& id) const {
  for (const Json& cell : document_["cells"])
    if (cell["id"] == id) return &cell;
  return nullptr;
}

std::size_t Results::runs(const std::string& id) const {
  const Json* const cell = Find(id);
  if (cell == nullptr) return 0;
  std::size_t whole = 0;
  for (const Json& run : (*cell)["runs"]) whole += run.contains("partial") ? 0u : 1u;
  return whole;
}

Json* Results::CellOf(const Json& cell) {
  Json& cells = document_["cells"];
  for (Json& other : cells)
    if (other["id"] == cell["id"]) return &other;
  cells.push_back(cell);
  cells.back()["runs"] = Json::array();
  return &cells.back();
}

bool Results::Add(const Json& cell, const Json& run, std::string* error) {
  return Add({{cell, run}}, error);
}

bool Results::Add(const std::vector<CellRun>& runs, std::string* error) {
  for (const CellRun& added : runs) {
    Json* const cell = CellOf(added.cell);
    (*cell)["runs"].push_back(added.run);
    SumUp(cell);
  }
  return Write(error);
}

void Results::Order(const std::vector<std::string>& ids) {
  const auto place = [&](const Json& cell) {
    return std::find(ids.begin(), ids.end(), cell["id"].get<std::string>()) - ids.begin();
  };
  Json& cells = document_["cells"];
  std::stable_sort(cells.begin(), cells.end(),
                   [&](const Json& a, const Json& b) { return place(a) < place(b); });
}

bool Results::SetSummary(Json summary, std::string* error) {
  document_["summary"] = std::move(summary);
  return Write(error);
}

bool Results::Write(std::string* error) const {
  return WriteFile(path(), document_.dump(1) + "\n", error) &&
         WriteFile(folder_ + "/results.csv", Csv(document_), error);
}

bool WriteJson(const std::string& path, const Json& document, std::string* error) {
  if (path != "-") return WriteFile(path, document.dump(1) + "\n", error);
  Put(stdout, document.dump(1) + "\n");
  if (Flush(stdout)) return true;
  *error = fmt::format("cannot write the standard output: {}", WriteErrorText());
  return false;
}

std::optional<Json> LoadResults(const std::string& path, std::string* error) {
  const std::string text = ReadWholeFile(path);
  if (text.empty()) {
    *error = fmt::format("cannot read {}", path);
    return std::nullopt;
  }
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object() || !document.contains("plan") ||
      !document.contains("cells") || !document["cells"].is_array()) {
    *error = fmt::format("{} is no result file", path);
    return std::nullopt;
  }
  for (const Json& cell : document["cells"]) {
    if (cell.is_object() && cell.contains("id") && cell["id"].is_string() &&
        cell.contains("runs") && cell["runs"].is_array())
      continue;
    *error = fmt::format("{}: a cell without \"id\" and \"runs\"", path);
    return std::nullopt;
  }
  return document;
}

const Json::json_pointer& MeasureOf(const Json& cell) {
  return cell.value("measure", Json()) == "sent" ? kSentBps : kReceivedBps;
}

std::vector<double> FiguresOf(const Json& cell, const Json::json_pointer& figure) {
  std::vector<double> out;
  for (const Json& run : cell["runs"])
    if (run.contains(figure) && run[figure].is_number()) out.push_back(run[figure].get<double>());
  return out;
}

Json DescribeHost() {
  utsname name = {};
  ::uname(&name);
  std::string cpu = "?";
  const std::string info = ReadWholeFile("/proc/cpuinfo");
  const std::string mark = "model name\t: ";
  if (const std::size_t at = info.find(mark); at != std::string::npos)
    cpu = info.substr(at + mark.size(), info.find('\n', at) - at - mark.size());
  return {{"kernel", fmt::format("{} {}", name.sysname, name.release)},
          {"machine", name.machine},
          {"cpu", cpu},
          {"cores", std::thread::hardware_concurrency()}};
}

}  // namespace dccp::apps::lab
