#include "apps/common/reporter.h"

#include <fmt/format.h>

#include <utility>

#include "apps/common/text.h"

namespace dccp::apps {

Reporter::~Reporter() {
  for (std::FILE* file : {json_, stream_})
    if (file != nullptr && file != stdout) std::fclose(file);
}

std::FILE* Reporter::OpenFile(const std::string& path, std::string* error) {
  if (path == "-") return stdout;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) *error = fmt::format("cannot write {}: {}", path, ErrnoText());
  return file;
}

bool Reporter::Open(const CommonOptions& options, bool payload_on_stdout, std::string* error) {
  const bool json = options.json->count() != 0;
  const bool stream = options.json_stream->count() != 0;
  const bool json_on_stdout =
      (json && options.json_file == "-") || (stream && options.json_stream_file == "-");
  if (json_on_stdout && payload_on_stdout) {
    *error = "the standard output carries the payload: give --json and --json-stream a FILE";
    return false;
  }
  if (json || stream || payload_on_stdout) text_ = stderr;
  if (json && (json_ = OpenFile(options.json_file, error)) == nullptr) return false;
  return !stream || (stream_ = OpenFile(options.json_stream_file, error)) != nullptr;
}

void Reporter::Text(std::string_view text) {
  Put(text_, text);
  Flush(text_);
}

void Reporter::Event(const char* name, Json data) {
  if (stream_ == nullptr) return;
  Json line = {{"event", name}};
  line["data"] = std::move(data);
  Put(stream_, line.dump() + "\n");
  Flush(stream_);
}

void Reporter::Started(std::size_t connection, Json start) {
  Json event = start;
  event["connection"] = connection;
  Event("start", std::move(event));
  connections_[connection].start = std::move(start);
}

void Reporter::Interval(std::size_t connection, const IntervalReport& report) {
  Json interval = ToJson(report);
  Json event = interval;
  event["connection"] = connection;
  Event("interval", std::move(event));
  if (json_ != nullptr) connections_[connection].intervals.push_back(std::move(interval));
}

void Reporter::IntervalSum(const IntervalReport& report) {
  if (json_ != nullptr) interval_sums_.push_back(ToJson(report));
}

void Reporter::Ended(std::size_t connection, const EndReport& report) {
  Json end = ToJson(report);
  Json event = end;
  event["connection"] = connection;
  Event("end", std::move(event));
  Connection& c = connections_[connection];
  c.end = std::move(end);
  c.end_report = report;
  c.ended = true;
}

void Reporter::Failure(const std::string& message) {
  if (first_failure_.empty()) first_failure_ = message;
  Put(stderr, fmt::format("{}: {}\n", tool_, message));
  Event("error", message);
}

Json Reporter::Document() {
  Json doc = {{"tool", tool_}, {"version", UDCCP_VERSION}};
  if (connections_.size() == 1) {
    Connection& only = connections_.begin()->second;
    doc["start"] = std::move(only.start);
    doc["intervals"] = std::move(only.intervals);
    doc["end"] = std::move(only.end);
  } else {
    std::vector<EndReport> ends;
    Json all = Json::array();
    doc["start"] = nullptr;
    for (auto& [id, c] : connections_) {
      if (doc["start"].is_null()) doc["start"] = c.start;
      if (c.ended) ends.push_back(c.end_report);
      all.push_back({{"start", std::move(c.start)},
                     {"intervals", std::move(c.intervals)},
                     {"end", std::move(c.end)}});
    }
    doc["intervals"] = std::move(interval_sums_);
    doc["end"] = ToJson(Sum(ends));
    doc["connections"] = std::move(all);
  }
  doc["error"] = first_failure_.empty() ? Json(nullptr) : Json(first_failure_);
  return doc;
}

bool Reporter::Finish() {
  bool good = true;
  if (json_ != nullptr) Put(json_, Document().dump(2) + "\n");
  for (std::FILE* file : {json_, stream_, text_}) {
    if (file == nullptr || file == stderr) continue;
    if (!Flush(file)) good = false;
  }
  if (!good) Put(stderr, fmt::format("{}: cannot write the report: {}\n", tool_, WriteErrorText()));
  return good;
}

}  // namespace dccp::apps
