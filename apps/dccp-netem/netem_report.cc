#include "apps/dccp-netem/netem_report.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "apps/common/text.h"
#include "apps/common/tool.h"

namespace dccp::apps::netem {

namespace {

double Milliseconds(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

// Every counter with its name in JSON and in text, in the order of printing.
struct Field {
  const char* name;
  std::uint64_t DirectionCounters::*value;
};
constexpr Field kFields[] = {
    {"offered", &DirectionCounters::offered},
    {"offered_bytes", &DirectionCounters::offered_bytes},
    {"delivered", &DirectionCounters::delivered},
    {"delivered_bytes", &DirectionCounters::delivered_bytes},
    {"lost", &DirectionCounters::lost},
    {"queue_full", &DirectionCounters::queue_full},
    {"red_dropped", &DirectionCounters::red_dropped},
    {"too_big", &DirectionCounters::too_big},
    {"no_memory", &DirectionCounters::no_memory},
    {"refused", &DirectionCounters::refused},
    {"unresolved", &DirectionCounters::unresolved},
    {"duplicated", &DirectionCounters::duplicated},
    {"marked", &DirectionCounters::marked},
    {"corrupted", &DirectionCounters::corrupted},
    {"reordered", &DirectionCounters::reordered},
};
constexpr std::size_t kAlwaysShown = 5;  // of kFields

Json IntervalToJson(const DirectionCounters& c, double seconds) {
  Json out = ToJson(c);
  out["bits_per_second"] = seconds > 0 ? 8 * static_cast<double>(c.delivered_bytes) / seconds : 0.0;
  return out;
}

std::string TimeOfDay() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

Json ToJson(const DirectionCounters& counters) {
  Json out;
  for (const Field& field : kFields) out[field.name] = counters.*field.value;
  return out;
}

DirectionCounters operator-(const DirectionCounters& later, const DirectionCounters& earlier) {
  DirectionCounters out;
  for (const Field& field : kFields) out.*field.value = later.*field.value - earlier.*field.value;
  return out;
}

Json ToJson(const PathConfig& path) {
  Json out = {{"delay_ms", Milliseconds(path.delay)},
              {"jitter_ms", Milliseconds(path.jitter)},
              {"loss", path.loss},
              {"burst_loss", nullptr},
              {"rate_bps", path.rate_bps == 0 ? Json(nullptr) : Json(path.rate_bps)},
              {"queue_packets", path.queue_packets == 0 ? Json(nullptr) : Json(path.queue_packets)},
              {"queue_bytes", path.queue_bytes == 0 ? Json(nullptr) : Json(path.queue_bytes)},
              {"red", nullptr},
              {"reorder", path.reorder},
              {"reorder_delay_ms", Milliseconds(path.reorder_delay)},
              {"duplicate", path.duplicate},
              {"corrupt", path.corrupt},
              {"ecn_mark", path.ecn_mark},
              {"mtu_bytes", path.mtu_bytes == 0 ? Json(nullptr) : Json(path.mtu_bytes)}};
  if (path.burst_loss)
    out["burst_loss"] = {{"good_to_bad", path.burst_loss->good_to_bad},
                         {"bad_to_good", path.burst_loss->bad_to_good},
                         {"loss_good", path.burst_loss->loss_good},
                         {"loss_bad", path.burst_loss->loss_bad}};
  if (path.red)
    out["red"] = {{"min_packets", path.red->min_packets},
                  {"max_packets", path.red->max_packets},
                  {"max_probability", path.red->max_probability},
                  {"mark", path.red->mark}};
  return out;
}

Json ToJson(const DelayHistogram& lateness) {
  if (lateness.total() == 0) return nullptr;
  return {{"median", Milliseconds(lateness.Quantile(0.5))},
          {"p99", Milliseconds(lateness.Quantile(0.99))},
          {"max", Milliseconds(lateness.max())}};
}

NetemReport::~NetemReport() {
  for (std::FILE* file : {json_, stream_})
    if (file != nullptr && file != stdout) std::fclose(file);
}

void NetemReport::Put(std::FILE* file, std::string_view text) { apps::Put(file, text); }

std::FILE* NetemReport::OpenFile(const std::string& path, std::string* error) {
  if (path == "-") {
    text_ = stderr;
    return stdout;
  }
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) *error = fmt::format("cannot write {}: {}", path, ErrnoText());
  return file;
}

bool NetemReport::Open(std::string* error) {
  if (options_.json->count() != 0 && (json_ = OpenFile(options_.json_file, error)) == nullptr)
    return false;
  return options_.json_stream->count() == 0 ||
         (stream_ = OpenFile(options_.json_stream_file, error)) != nullptr;
}

void NetemReport::Event(const char* name, const Json& data) {
  if (stream_ == nullptr) return;
  Put(stream_, Json({{"event", name}, {"data", data}}).dump() + "\n");
  Flush(stream_);
}

void NetemReport::Started(const Emulation& emulation, std::uint16_t listen_port) {
  constexpr const char* kModes[] = {"udp", "bridge", "router"};
  Json start = {{"mode", kModes[static_cast<std::size_t>(options_.mode)]},
                {"between", emulation.Describe()},
                {"listen_port", listen_port == 0 ? Json(nullptr) : Json(listen_port)},
                {"seed", options_.emulation.seed},
                {"forward", ToJson(options_.emulation.forward)},
                {"reverse", ToJson(options_.emulation.reverse)},
                {"time", TimeOfDay()}};
  Event("start", start);
  document_ = {{"tool", "dccp-netem"}, {"version", UDCCP_VERSION}};
  document_["start"] = std::move(start);
  document_["intervals"] = Json::array();
  Text(fmt::format("{}, seed {}\n  forward {}\n  reverse {}\n", emulation.Describe(),
                   options_.emulation.seed, DescribePath(options_.emulation.forward),
                   DescribePath(options_.emulation.reverse)));
  Flush(text_);
}

void NetemReport::Interval(const Emulation& emulation, double start_s, double end_s) {
  const DirectionCounters forward = emulation.forward().counters() - last_forward_;
  const DirectionCounters reverse = emulation.reverse().counters() - last_reverse_;
  last_forward_ = emulation.forward().counters();
  last_reverse_ = emulation.reverse().counters();
  const double seconds = end_s - start_s;
  const Json json = {{"start_s", start_s},
                     {"end_s", end_s},
                     {"forward", IntervalToJson(forward, seconds)},
                     {"reverse", IntervalToJson(reverse, seconds)}};
  Event("interval", json);
  document_["intervals"].push_back(json);
  const auto part = [&](const DirectionCounters& c) {
    return fmt::format(
        "{:>16} {:>8} packets {:>6} not",
        RateText(8 * static_cast<double>(c.delivered_bytes) / seconds), c.delivered,
        c.lost + c.queue_full + c.red_dropped + c.too_big + c.no_memory + c.refused + c.unresolved);
  };
  Text(fmt::format("{:7.2f}-{:<7.2f} s  forward {}   reverse {}\n", start_s, end_s, part(forward),
                   part(reverse)));
  Flush(text_);
}

std::string NetemReport::DirectionText(const char* name, const Direction& direction,
                                       double seconds) const {
  const DirectionCounters& c = direction.counters();
  std::string out = fmt::format(
      "{}: {} offered ({}), {} delivered ({}, {}), {} lost", name, c.offered,
      BytesText(static_cast<double>(c.offered_bytes)), c.delivered,
      BytesText(static_cast<double>(c.delivered_bytes)),
      RateText(seconds > 0 ? 8 * static_cast<double>(c.delivered_bytes) / seconds : 0), c.lost);
  std::size_t index = 0;
  for (const Field& field : kFields) {
    if (index++ < kAlwaysShown || c.*field.value == 0) continue;
    std::string label = field.name;
    for (char& letter : label) letter = letter == '_' ? ' ' : letter;
    out += fmt::format(", {} {}", c.*field.value, label);
  }
  return out + "\n";
}

void NetemReport::Ended(Emulation& emulation, double seconds, Duration cpu) {
  const std::uint64_t packets =
      emulation.forward().counters().offered + emulation.reverse().counters().offered;
  const double cpu_us = std::chrono::duration<double, std::micro>(cpu).count();
  const double percent = seconds > 0 ? cpu_us / seconds * 1e-4 : 0;
  DelayHistogram lateness = emulation.forward().lateness();
  lateness += emulation.reverse().lateness();
  const std::uint64_t missed = emulation.missed();
  const ExtraFigures extras = emulation.Extras();

  Json end = {{"seconds", seconds},
              {"forward", ToJson(emulation.forward().counters())},
              {"reverse", ToJson(emulation.reverse().counters())},
              {"under_way", emulation.under_way()},
              {"missed", missed}};
  for (const auto& [name, value] : extras) end[name] = value;
  end["delay_error_ms"] = ToJson(lateness);
  end["cpu"] = {{"percent", percent},
                {"us_per_packet",
                 packets == 0 ? Json(nullptr) : Json(cpu_us / static_cast<double>(packets))}};
  Event("end", end);
  document_["end"] = std::move(end);

  Text("- - - - - - - - - - - - - - - - - - - - - - - - -\n");
  Text(DirectionText("forward", emulation.forward(), seconds));
  Text(DirectionText("reverse", emulation.reverse(), seconds));
  std::string line = fmt::format("{:.1f} s", seconds);
  for (const auto& [name, value] : extras)
    if (value != 0) line += fmt::format(", {} {}", name, value);
  if (emulation.under_way() != 0)
    line += fmt::format(", {} still under way", emulation.under_way());
  if (missed != 0) line += fmt::format(", {} missed: they came faster than they were read", missed);
  line += fmt::format("; CPU {:.1f} %", percent);
  if (packets != 0)
    line += fmt::format(", {:.2f} us a packet", cpu_us / static_cast<double>(packets));
  if (lateness.total() != 0)
    line += fmt::format("; late by {:.3f} ms (median), {:.3f} ms (99 %), {:.3f} ms (worst)",
                        Milliseconds(lateness.Quantile(0.5)), Milliseconds(lateness.Quantile(0.99)),
                        Milliseconds(lateness.max()));
  Text(line + "\n");
}

bool NetemReport::Finish() {
  if (json_ != nullptr) Put(json_, document_.dump(2) + "\n");
  bool good = true;
  for (std::FILE* file : {json_, stream_, text_})
    if (file != nullptr && !Flush(file)) good = false;
  if (!good) Put(stderr, fmt::format("dccp-netem: cannot write the report: {}\n", WriteErrorText()));
  return good;
}

}  // namespace dccp::apps::netem
