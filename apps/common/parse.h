// Values of command-line options. Every parser takes the whole text or returns nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps {

// "1400", "64K", "1.5M", "2G": powers of 1024.
std::optional<std::uint64_t> ParseSize(std::string_view text);
// "10" (seconds), "250us", "20ms", "1.5s".
std::optional<Duration> ParseTime(std::string_view text);
// "800000", "800kbit", "2.5Mbit", "1Gbit", also "2.5M": bits a second, powers of 1000.
std::optional<double> ParseRate(std::string_view text);
// "1%", "0.01": a probability from 0 to 1.
std::optional<double> ParseLoss(std::string_view text);

// "host", "host:port", "[v6]:port", and a bare IPv6 address. `port` is 0 where there is none.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
std::optional<HostPort> ParseHostPort(std::string_view text);

// "2", "3,2": ids of RFC 4340 §10 in order of preference. Empty with `*error` filled where one is
// no CCID, is named twice, or is not in `registry`.
std::vector<CcidId> ParseCcids(std::string_view text, const CcidRegistry& registry,
                               std::string* error);

}  // namespace dccp::apps
