#include "apps/common/resolve.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace dccp::apps {

namespace {

IpAddress FromSockaddr(const sockaddr* address) {
  IpAddress out;
  if (address->sa_family == AF_INET) {
    sockaddr_in in = {};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(out.bytes.data(), &in.sin_addr, 4);
  } else {
    sockaddr_in6 in = {};
    std::memcpy(&in, address, sizeof in);
    out.family = IpFamily::kV6;
    std::memcpy(out.bytes.data(), &in.sin6_addr, 16);
    out.scope_id = in.sin6_scope_id;
  }
  return out;
}

}  // namespace

std::vector<IpAddress> Resolve(const std::string& host, FamilyChoice family, std::string* error) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_family = AF_UNSPEC;
  if (family == FamilyChoice::kV4) hints.ai_family = AF_INET;
  if (family == FamilyChoice::kV6) hints.ai_family = AF_INET6;
  addrinfo* list = nullptr;
  const int fault = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (fault != 0) {
    *error = fmt::format("cannot resolve {}: {}", host, gai_strerror(fault));
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  std::vector<IpAddress> out;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
    const IpAddress address = FromSockaddr(a->ai_addr);
    if (std::find(out.begin(), out.end(), address) == out.end()) out.push_back(address);
  }
  if (out.empty()) *error = fmt::format("cannot resolve {}: no usable address", host);
  return out;
}

}  // namespace dccp::apps
