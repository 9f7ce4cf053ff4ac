// A sockaddr of either family, and its translation to the protocol's address type.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "dccp/types.h"

namespace dccp {

class SocketAddress {
 public:
  SocketAddress() : v6_{} {}
  // `port` is in host order.
  SocketAddress(const IpAddress& address, std::uint16_t port);

  // The address and port that `fd` is bound to; false with errno set.
  bool AssignLocal(int fd);

  IpAddress address() const;
  std::uint16_t port() const;
  std::string ToString() const;  // "1.2.3.4:80", "[::1]:80"

  sockaddr* get() { return &any_; }
  const sockaddr* get() const { return &any_; }
  // Of the family in use.
  socklen_t size() const { return any_.sa_family == AF_INET ? sizeof(v4_) : sizeof(v6_); }
  static constexpr socklen_t Capacity() { return sizeof(sockaddr_in6); }

 private:
  union {
    sockaddr any_;
    sockaddr_in v4_;
    sockaddr_in6 v6_;
  };
};

IpAddress FromInAddr(const in_addr& in);
// `interface_index` becomes the scope of a link-local address and is ignored for others.
IpAddress FromIn6Addr(const in6_addr& in, std::uint32_t interface_index);

constexpr int AddressFamily(IpFamily family) {
  return family == IpFamily::kV4 ? AF_INET : AF_INET6;
}

}  // namespace dccp
