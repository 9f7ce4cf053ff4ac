#include "stack/io/port_claims.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace dccp {
namespace {

constexpr std::string_view kPrefix = "udccp/33/";

// 0 or an errno value.
int BindName(int fd, std::uint16_t port) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  char* at = address.sun_path + 1;  // a name that begins with NUL is an abstract one
  std::memcpy(at, kPrefix.data(), kPrefix.size());
  at += kPrefix.size();
  at = std::to_chars(at, address.sun_path + sizeof(address.sun_path), port).ptr;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                             static_cast<std::size_t>(at - address.sun_path));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(fd, generic, length) == 0 ? 0 : errno;
}

}  // namespace

bool PortClaims::Claim(std::uint16_t port) {
  if (const auto found = held_.find(port); found != held_.end()) {
    ++found->second.count;
    return true;
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.valid() && BindName(fd.get(), port) == EADDRINUSE) return false;
  held_.emplace(port, Held{std::move(fd), 1});
  return true;
}

void PortClaims::Release(std::uint16_t port) {
  const auto found = held_.find(port);
  if (found != held_.end() && --found->second.count == 0) held_.erase(found);
}

bool PortClaims::TakenElsewhere(std::uint16_t port) {
  if (held_.contains(port)) return false;
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd.valid() && BindName(fd.get(), port) == EADDRINUSE;
}

}  // namespace dccp
