// The results of a plan, on disk as they come.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dccp::apps::lab {

using Json = nlohmann::ordered_json;

// results.json and results.csv of one folder. Written whole after each run, to a new file that
// takes the place of the old, so that whatever ends the lab leaves the last state or the one
// before. A run with "partial" was interrupted: it counts until the plan is resumed.
class Results {
 public:
  // An empty one, or with `resume` what is there. Nothing with `*error` filled when that is not of
  // the same plan, or results are there and must not be lost.
  static std::optional<Results> Open(const std::string& folder, const Json& plan, bool resume,
                                     std::string* error);

  // Whole runs that the cell `id` has.
  std::size_t runs(const std::string& id) const;
  // Adds a run to the cell that `cell` describes by its "id", sums up, writes. False with `*error`.
  bool Add(const Json& cell, const Json& run, std::string* error);
  // Many at once.
  struct CellRun {
    Json cell;
    Json run;
  };
  bool Add(const std::vector<CellRun>& runs, std::string* error);
  // Puts the cells in this order; those that are not named stay behind them.
  void Order(const std::vector<std::string>& ids);
  bool SetSummary(Json summary, std::string* error);
  const Json& document() const { return document_; }
  // Null for one that is not there.
  const Json* Find(const std::string& id) const;
  std::string path() const { return folder_ + "/results.json"; }

 private:
  Json* CellOf(const Json& cell);
  bool Write(std::string* error) const;

  std::string folder_;
  Json document_;
};

// "-": to the standard output. False with `*error` filled.
bool WriteJson(const std::string& path, const Json& document, std::string* error);
// Reads a result file; nothing with `*error` filled.
std::optional<Json> LoadResults(const std::string& path, std::string* error);
// One figure of all runs of a cell; a null or missing one is left out.
std::vector<double> FiguresOf(const Json& cell, const Json::json_pointer& figure);
inline const Json::json_pointer kReceivedBps{"/received/bits_per_second"};
inline const Json::json_pointer kSentBps{"/sent/bits_per_second"};
// What the mean of a cell is of, by its "measure": what was sent, or else what was received.
const Json::json_pointer& MeasureOf(const Json& cell);
inline const Json::json_pointer kBlastBps{"/blast/received/bits_per_second"};
inline const Json::json_pointer kSenderUs{"/cpu/local_us_per_packet"};
inline const Json::json_pointer kReceiverUs{"/cpu/remote_us_per_packet"};
inline const Json::json_pointer kSenderPercent{"/cpu/local_percent"};
inline const Json::json_pointer kReceiverPercent{"/cpu/remote_percent"};
inline const Json::json_pointer kEmulatorPercent{"/cpu/emulator_percent"};
inline const Json::json_pointer kHostPercent{"/cpu/host_percent"};
inline const Json::json_pointer kHostSoftirqPercent{"/cpu/host_softirq_percent"};
inline const Json::json_pointer kRttMean{"/rtt_ms/mean"};

// Kernel, processor and cores of this machine.
Json DescribeHost();

}  // namespace dccp::apps::lab
