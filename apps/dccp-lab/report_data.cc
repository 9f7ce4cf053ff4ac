#include "apps/dccp-lab/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

namespace dccp::apps::lab {

namespace {

constexpr const char* kSeriesMembers[] = {"firewall", "rules", "ccid", "encap", "peer"};
// Those that may follow from the rest.
constexpr const char* kFollowing[] = {"rules", "ccid", "peer"};
constexpr const char* kChartMembers[] = {"topology", "family"};

std::string Describe(const Json& cell, const std::string& member) {
  const std::string text = TextAt(cell, member.c_str());
  if (text.empty()) return "";
  if (member == "family") return "IPv" + text;
  if (member == "ccid") return "CCID " + text;
  if (member == "firewall" && text == "none") return "no rules";
  if (member == "rules") return text == "0" ? "" : text + (text == "1" ? " rule" : " rules");
  if (member == "encap") return text == "udp" ? "DCCP-UDP" : text == "plain" ? "plain UDP" : text;
  return text;
}

std::string Describe(const Json& cell, std::span<const char* const> members) {
  std::string text;
  for (const char* member : members) {
    const std::string part = Describe(cell, std::string(member));
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

// How many cells the members tell apart.
std::size_t Distinct(std::span<const Json* const> cells, std::span<const char* const> members) {
  std::set<std::string> values;
  for (const Json* cell : cells) values.insert(Describe(*cell, members));
  return values.size();
}

}  // namespace

std::optional<double> NumberAt(const Json& object, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  if (!object.is_structured() || !object.contains(at)) return std::nullopt;
  const Json& value = object.at(at);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::string TextAt(const Json& object, const char* member) {
  const Json& value = MemberOf(object, member);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() || value.is_boolean() ? value.dump() : std::string();
}

const Json& MemberOf(const Json& object, const char* member) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(member);
  return it == object.end() ? kNothing : *it;
}

std::optional<double> EquationOf(const Json& cell) {
  const std::optional<double> bps = NumberAt(cell, "/equation_bps");
  return bps && *bps > 0 ? bps : std::nullopt;
}

const char* SizeName(const Json& cell) {
  return NumberAt(cell, "/frame_bytes") ? "frame, bytes" : "payload, bytes";
}

std::optional<double> SizeOf(const Json& cell) {
  const std::optional<double> frame = NumberAt(cell, "/frame_bytes");
  return frame ? frame : NumberAt(cell, "/payload_bytes");
}

std::vector<double> RatesOf(const Json& cell) {
  static const Json::json_pointer kSent("/sent/bits_per_second");
  return FiguresOf(cell, TextAt(cell, "measure") == "sent" ? kSent : kReceivedBps);
}

std::vector<double> PublishedRatesOf(const Json& cell) {
  std::vector<double> out;
  for (const char* pointer : {"/published/router_bps", "/published/bridge_bps"})
    if (const std::optional<double> bps = NumberAt(cell, pointer)) out.push_back(*bps);
  return out;
}

double Rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

SeriesNames::SeriesNames(std::span<const ReportSource> sources) {
  std::vector<const Json*> cells;
  for (const ReportSource& source : sources)
    for (const Json& cell : MemberOf(source.document, "cells"))
      if (!EquationOf(cell)) cells.push_back(&cell);
  for (const char* member : kChartMembers)
    if (Distinct(cells, std::span(&member, 1)) > 1) charts_.push_back(member);
  series_.assign(std::begin(kSeriesMembers), std::end(kSeriesMembers));
  const std::size_t all = Distinct(cells, series_);
  // What was sent and through which firewall stays in the name, unless it is always the same.
  for (const char* member : kFollowing) {
    std::vector<const char*> rest = series_;
    std::erase(rest, member);
    if (Distinct(cells, rest) == all) series_ = rest;
  }
  std::erase_if(series_,
                [&](const char* member) { return Distinct(cells, std::span(&member, 1)) <= 1; });
}

std::string SeriesNames::SeriesOf(const Json& cell) const {
  const std::string name = Describe(cell, series_);
  return name.empty() ? "measured" : name;
}

std::string SeriesNames::ChartOf(const Json& cell) const { return Describe(cell, charts_); }

RateUnit RateUnitFor(double bps) {
  if (bps >= 10e6) return {1e-6, "Mbit/s"};
  return {1e-3, "kbit/s"};
}

}  // namespace dccp::apps::lab
