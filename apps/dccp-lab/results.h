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
// before.
class Results {
 public:
  // An empty one, or with `resume` what is there. Nothing with `*error` filled when that is not of
  // the same plan, or results are there and must not be lost.
  static std::optional<Results> Open(const std::string& folder, const Json& plan, bool resume,
                                     std::string* error);

  // Runs that the cell `id` has.
  std::size_t runs(const std::string& id) const;
  // Adds a run to the cell that `cell` describes by its "id", sums up, writes. False with `*error`.
  bool Add(const Json& cell, const Json& run, std::string* error);
  const Json& document() const { return document_; }
  // Null for one that is not there.
  const Json* Find(const std::string& id) const;
  std::string path() const { return folder_ + "/results.json"; }

 private:
  bool Write(std::string* error) const;

  std::string folder_;
  Json document_;
};

// Reads a result file; nothing with `*error` filled.
std::optional<Json> LoadResults(const std::string& path, std::string* error);
// One figure of all runs of a cell; a null or missing one is left out.
std::vector<double> FiguresOf(const Json& cell, const Json::json_pointer& figure);
inline const Json::json_pointer kReceivedBps{"/received/bits_per_second"};
inline const Json::json_pointer kSenderUs{"/cpu/local_us_per_packet"};
inline const Json::json_pointer kReceiverUs{"/cpu/remote_us_per_packet"};
inline const Json::json_pointer kSenderPercent{"/cpu/local_percent"};
inline const Json::json_pointer kReceiverPercent{"/cpu/remote_percent"};

// Kernel, processor and cores of this machine.
Json DescribeHost();

}  // namespace dccp::apps::lab
