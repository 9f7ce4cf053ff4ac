#include <arpa/inet.h>
#include <net/if.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include "dccp/uv_driver.h"

namespace dccp {
namespace {

bool IsLinkLocal(const IpAddress& address) {
  return address.family == IpFamily::kV6 && address.bytes[0] == 0xFE &&
         (address.bytes[1] & 0xC0) == 0x80;
}

// A zone is an interface's name or number. RFC 4007 §11
bool ParseZone(const std::string& zone, std::uint32_t* index) {
  if (zone.empty()) return false;
  *index = ::if_nametoindex(zone.c_str());
  if (*index != 0) return true;
  const char* end = zone.data() + zone.size();
  const auto [stop, error] = std::from_chars(zone.data(), end, *index);
  return error == std::errc() && stop == end && *index != 0;
}

}  // namespace

bool ParseAddress(std::string_view text, IpAddress* out) {
  const std::size_t percent = text.find('%');
  const std::string host(text.substr(0, percent));
  IpAddress address;
  if (percent == std::string_view::npos &&
      ::inet_pton(AF_INET, host.c_str(), address.bytes.data()) == 1) {
    *out = address;
    return true;
  }
  address.family = IpFamily::kV6;
  if (::inet_pton(AF_INET6, host.c_str(), address.bytes.data()) != 1) return false;
  if (percent != std::string_view::npos) {
    if (!IsLinkLocal(address)) return false;
    if (!ParseZone(std::string(text.substr(percent + 1)), &address.scope_id)) return false;
  }
  *out = address;
  return true;
}

std::string FormatAddress(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const int family = address.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  if (::inet_ntop(family, address.bytes.data(), text.data(), text.size()) == nullptr) return "?";
  std::string out = text.data();
  if (address.scope_id != 0) {
    std::array<char, IF_NAMESIZE> name = {};
    const bool named = ::if_indextoname(address.scope_id, name.data()) != nullptr;
    out += '%';
    out += named ? std::string(name.data()) : std::to_string(address.scope_id);
  }
  return out;
}

}  // namespace dccp
