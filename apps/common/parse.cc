#include "apps/common/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace dccp::apps {

namespace {

// A non-negative decimal number at the start of `text`, which is shortened by it.
std::optional<double> TakeNumber(std::string_view* text) {
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, fault] = std::from_chars(text->data(), end, value, std::chars_format::fixed);
  if (fault != std::errc() || !std::isfinite(value) || value < 0 || std::signbit(value))
    return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(rest - text->data()));
  return value;
}

struct Unit {
  std::string_view name;
  double factor;
};

std::optional<double> ParseWithUnit(std::string_view text, std::initializer_list<Unit> units) {
  const std::optional<double> number = TakeNumber(&text);
  if (!number) return std::nullopt;
  for (const Unit& unit : units)
    if (unit.name == text) return *number * unit.factor;
  return std::nullopt;
}

std::optional<unsigned> ParseUnsigned(std::string_view text, unsigned max) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (text.empty() || fault != std::errc() || rest != end || value > max) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> ParseSize(std::string_view text) {
  const auto v = ParseWithUnit(text, {{"", 1},
                                      {"K", 1024.0},
                                      {"k", 1024.0},
                                      {"M", 1024.0 * 1024},
                                      {"m", 1024.0 * 1024},
                                      {"G", 1024.0 * 1024 * 1024},
                                      {"g", 1024.0 * 1024 * 1024}});
  if (!v || *v > 1e18) return std::nullopt;
  return static_cast<std::uint64_t>(*v);
}

std::optional<Duration> ParseTime(std::string_view text) {
  const auto v = ParseWithUnit(text, {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}});
  if (!v || *v > 1e18) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*v));
}

std::optional<double> ParseRate(std::string_view text) {
  return ParseWithUnit(text, {{"", 1},
                              {"bit", 1},
                              {"kbit", 1e3},
                              {"Mbit", 1e6},
                              {"Gbit", 1e9},
                              {"K", 1e3},
                              {"k", 1e3},
                              {"M", 1e6},
                              {"m", 1e6},
                              {"G", 1e9},
                              {"g", 1e9}});
}

std::optional<double> ParseLoss(std::string_view text) {
  const auto v = ParseWithUnit(text, {{"", 1}, {"%", 0.01}});
  if (!v || *v > 1) return std::nullopt;
  return v;
}

std::optional<HostPort> ParseHostPort(std::string_view text) {
  HostPort out;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    out.host = text.substr(1, close - 1);
    std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return std::nullopt;
    if (rest.size() == 1) return std::nullopt;
    if (!rest.empty()) port = rest.substr(1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const std::size_t colon = text.find(':');
    out.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return std::nullopt;
  } else {
    out.host = text;
  }
  if (out.host.empty()) return std::nullopt;
  if (!port.empty()) {
    const auto number = ParseUnsigned(port, 65535);
    if (!number || *number == 0) return std::nullopt;
    out.port = static_cast<std::uint16_t>(*number);
  }
  return out;
}

std::vector<CcidId> ParseCcids(std::string_view text, const CcidRegistry& registry,
                               std::string* error) {
  std::vector<CcidId> out;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const auto number = ParseUnsigned(item, 255);
    if (!number || (*number != 2 && *number != 3 && *number != 4 && *number < 248) ||
        *number == 255) {
      *error = fmt::format("'{}' is no CCID (2, 3, 4 or 248 to 254)", item);
      return {};
    }
    const auto id = static_cast<CcidId>(*number);
    if (registry.Find(id) == nullptr) {
      *error = fmt::format("CCID {} is not available in this program", *number);
      return {};
    }
    if (std::find(out.begin(), out.end(), id) != out.end()) {
      *error = fmt::format("CCID {} is named twice", *number);
      return {};
    }
    out.push_back(id);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace dccp::apps
