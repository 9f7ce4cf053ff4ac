// What dccp-netem prints.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "apps/dccp-netem/emulation.h"
#include "apps/dccp-netem/netem_options.h"

namespace dccp::apps::netem {

using Json = nlohmann::ordered_json;

Json ToJson(const DirectionCounters& counters);
Json ToJson(const PathConfig& path);
// Packets that left later than they were due: median, 99th percentile, worst, in ms.
Json ToJson(const DelayHistogram& lateness);
// Counters of the time between two readings.
DirectionCounters operator-(const DirectionCounters& later, const DirectionCounters& earlier);

// Text goes to the standard output unless JSON goes there: then to the standard error. The document
// is written once, in Finish().
class NetemReport {
 public:
  explicit NetemReport(const NetemOptions& options) : options_(options) {}
  ~NetemReport();
  NetemReport(const NetemReport&) = delete;
  NetemReport& operator=(const NetemReport&) = delete;

  // False with `*error` filled.
  bool Open(std::string* error);
  // `listen_port`: 0 where there is none.
  void Started(const Emulation& emulation, std::uint16_t listen_port);
  void Interval(const Emulation& emulation, double start_s, double end_s);
  void Ended(Emulation& emulation, double seconds, Duration cpu);
  // False when output could not be written.
  bool Finish();

 private:
  std::FILE* OpenFile(const std::string& path, std::string* error);
  void Text(std::string_view text) { Put(text_, text); }
  static void Put(std::FILE* file, std::string_view text);
  void Event(const char* name, const Json& data);
  std::string DirectionText(const char* name, const Direction& direction, double seconds) const;

  const NetemOptions& options_;
  std::FILE* text_ = stdout;
  std::FILE* json_ = nullptr;
  std::FILE* stream_ = nullptr;
  Json document_;
  DirectionCounters last_forward_;
  DirectionCounters last_reverse_;
};

}  // namespace dccp::apps::netem
