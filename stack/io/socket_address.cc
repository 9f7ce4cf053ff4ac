#include "stack/io/socket_address.h"

#include <arpa/inet.h>

#include <cstring>

#include "dccp/uv_driver.h"

namespace dccp {

SocketAddress::SocketAddress(const IpAddress& address, std::uint16_t port) : v6_{} {
  if (address.family == IpFamily::kV4) {
    v4_.sin_family = AF_INET;
    v4_.sin_port = htons(port);
    std::memcpy(&v4_.sin_addr, address.bytes.data(), sizeof(v4_.sin_addr));
  } else {
    v6_.sin6_family = AF_INET6;
    v6_.sin6_port = htons(port);
    v6_.sin6_scope_id = address.scope_id;
    std::memcpy(&v6_.sin6_addr, address.bytes.data(), sizeof(v6_.sin6_addr));
  }
}

bool SocketAddress::AssignLocal(int fd) {
  socklen_t length = Capacity();
  return ::getsockname(fd, &any_, &length) == 0;
}

IpAddress SocketAddress::address() const {
  if (any_.sa_family == AF_INET) return FromInAddr(v4_.sin_addr);
  return FromIn6Addr(v6_.sin6_addr, v6_.sin6_scope_id);
}

std::uint16_t SocketAddress::port() const {
  return ntohs(any_.sa_family == AF_INET ? v4_.sin_port : v6_.sin6_port);
}

std::string SocketAddress::ToString() const {
  const std::string host = FormatAddress(address());
  const std::string colon_port = ":" + std::to_string(port());
  return any_.sa_family == AF_INET ? host + colon_port : "[" + host + "]" + colon_port;
}

IpAddress FromInAddr(const in_addr& in) {
  IpAddress out;
  out.family = IpFamily::kV4;
  std::memcpy(out.bytes.data(), &in, sizeof(in));
  return out;
}

IpAddress FromIn6Addr(const in6_addr& in, std::uint32_t interface_index) {
  IpAddress out;
  out.family = IpFamily::kV6;
  std::memcpy(out.bytes.data(), &in, sizeof(in));
  const bool link_local = out.bytes[0] == 0xFE && (out.bytes[1] & 0xC0) == 0x80;
  if (link_local) out.scope_id = interface_index;
  return out;
}

}  // namespace dccp
