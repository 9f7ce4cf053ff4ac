#include "apps/dccp-lab/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

namespace dccp::apps::lab {

namespace {

constexpr const char* kFamily = "family";
constexpr const char* kSeriesMembers[] = {"topology", "firewall", "rules", "ccid",
                                          "encap",    "peer",     kFamily};

std::string Describe(const Json& cell, const char* member) {
  const std::string text = TextAt(cell, member);
  if (text.empty()) return "";
  const std::string name = member;
  if (name == kFamily) return "IPv" + text;
  if (name == "ccid") return "CCID " + text;
  if (name == "firewall" && text == "none") return "no rules";
  if (name == "rules") return text == "0" ? "" : text + (text == "1" ? " rule" : " rules");
  if (name == "encap") return text == "udp" ? "in UDP" : text == "plain" ? "plain UDP" : text;
  return text;
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
  for (const char* member : kSeriesMembers) {
    std::set<std::string> values;
    for (const ReportSource& source : sources)
      for (const Json& cell : MemberOf(source.document, "cells"))
        if (!EquationOf(cell)) values.insert(TextAt(cell, member));
    if (values.size() > 1) differing_.push_back(member);
  }
}

bool SeriesNames::families_differ() const {
  return std::find(differing_.begin(), differing_.end(), kFamily) != differing_.end();
}

std::string SeriesNames::Of(const Json& cell, bool with_family) const {
  std::string name;
  for (const char* member : differing_) {
    if (member == kFamily && !with_family) continue;
    const std::string part = Describe(cell, member);
    if (!part.empty()) name += (name.empty() ? "" : ", ") + part;
  }
  return name.empty() ? "measured" : name;
}

RateUnit RateUnitFor(double bps) {
  if (bps >= 10e6) return {1e-6, "Mbit/s"};
  return {1e-3, "kbit/s"};
}

}  // namespace dccp::apps::lab
