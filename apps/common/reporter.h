// Where a program's output goes: text, one JSON document, JSON lines.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/common_options.h"
#include "apps/common/report.h"

namespace dccp::apps {

// Text goes to the standard output, unless JSON or payload goes there: then to the standard error.
// Failures always go to the standard error, one line each. Collects what the JSON document needs
// and writes it once, in Finish().
class Reporter {
 public:
  explicit Reporter(std::string tool) : tool_(std::move(tool)) {}
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // False with `*error` filled: a file cannot be opened, or the standard output is wanted twice.
  bool Open(const CommonOptions& options, bool payload_on_stdout, std::string* error);

  void Text(std::string_view text);
  void Started(std::size_t connection, Json start);
  void Interval(std::size_t connection, const IntervalReport& report);
  // The sum over connections, for the document's own list.
  void IntervalSum(const IntervalReport& report);
  void Ended(std::size_t connection, const EndReport& report);
  void Failure(const std::string& message);
  bool failed() const { return !first_failure_.empty(); }

  // Writes the document. False when output could not be written.
  bool Finish();

 private:
  struct Connection {
    Json start = nullptr;
    Json intervals = Json::array();
    Json end = nullptr;
    EndReport end_report;
    bool ended = false;
  };

  std::FILE* OpenFile(const std::string& path, std::string* error);
  void Event(const char* name, Json data);
  Json Document();

  std::string tool_;
  std::FILE* text_ = stdout;
  std::FILE* json_ = nullptr;
  std::FILE* stream_ = nullptr;
  std::string first_failure_;
  std::map<std::size_t, Connection> connections_;
  Json interval_sums_ = Json::array();
};

}  // namespace dccp::apps
