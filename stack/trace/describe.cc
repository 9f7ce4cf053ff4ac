#include "stack/trace/describe.h"

#include <arpa/inet.h>

#include <array>
#include <cinttypes>
#include <cstdio>

namespace dccp {

void AppendSeconds(std::string& out, std::int64_t nanoseconds) {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  const bool negative = nanoseconds < 0;
  const std::uint64_t magnitude = negative ? ~static_cast<std::uint64_t>(nanoseconds) + 1
                                           : static_cast<std::uint64_t>(nanoseconds);
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%s%" PRIu64 ".%09" PRIu64, negative ? "-" : "",
                magnitude / kPerSecond, magnitude % kPerSecond);
  out += text.data();
}

void AppendConn(std::string& out, ConnId conn) {
  if (conn == ConnId{}) {
    out += '-';
    return;
  }
  out += std::to_string(conn.index) + '.' + std::to_string(conn.generation);
}

void AppendAddress(std::string& out, const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const int family = address.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  inet_ntop(family, address.bytes.data(), text.data(), text.size());
  out += text.data();
  if (address.scope_id != 0) out += '%' + std::to_string(address.scope_id);
}

}  // namespace dccp
