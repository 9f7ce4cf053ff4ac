#include "apps/dccp-lab/test_path.h"

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "apps/common/text.h"
#include "dccp/uv_driver.h"
#include "stack/io/socket_address.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::lab {

namespace {

constexpr std::uint16_t kEchoPort = 7;
constexpr auto kAgain = std::chrono::milliseconds(200);

bool SetMtuInside(const NetworkNamespace& host, const std::string& name, int bytes,
                  std::string* error) {
  bool good = false;
  host.Inside([&] {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request = {};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_mtu = bytes;
    good = ::ioctl(socket.get(), SIOCSIFMTU, &request) == 0;
    if (!good) *error = fmt::format("cannot set the MTU of {}: {}", name, ErrnoText());
  });
  return good;
}

UniqueFd SocketIn(const NetworkNamespace& host, IpFamily family) {
  UniqueFd fd;
  const int domain = family == IpFamily::kV4 ? AF_INET : AF_INET6;
  host.Inside(
      [&] { fd = UniqueFd(::socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); });
  return fd;
}

}  // namespace

bool SetMtu(TestBed* bed, int bytes, std::string* error) {
  return SetMtuInside(bed->sender(), TestBed::kHostLink, bytes, error) &&
         SetMtuInside(bed->between(), TestBed::kLinks[0], bytes, error) &&
         SetMtuInside(bed->between(), TestBed::kLinks[1], bytes, error) &&
         SetMtuInside(bed->receiver(), TestBed::kHostLink, bytes, error);
}

bool WaitForPath(TestBed* bed, IpFamily family, Duration limit, const std::function<bool()>& stop,
                 std::string* error) {
  IpAddress address;
  *error = "nothing passes the test bed";
  if (!ParseAddress(bed->receiver_address(family), &address)) return false;
  const SocketAddress target(address, kEchoPort);
  const UniqueFd far = SocketIn(bed->receiver(), family);
  const UniqueFd near = SocketIn(bed->sender(), family);
  if (::bind(far.get(), target.get(), target.size()) != 0 ||
      ::connect(near.get(), target.get(), target.size()) != 0) {
    *error = fmt::format("cannot try the test bed: {}", ErrnoText());
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end && !stop()) {
    char byte = 0;
    static_cast<void>(::send(near.get(), &byte, 1, 0));
    const auto again = std::chrono::steady_clock::now() + kAgain;
    while (std::chrono::steady_clock::now() < again) {
      pollfd wait[] = {{far.get(), POLLIN, 0}, {near.get(), POLLIN, 0}};
      ::poll(wait, 2, 10);
      sockaddr_storage from = {};
      socklen_t size = sizeof from;
      auto* const source = reinterpret_cast<sockaddr*>(&from);
      if (::recvfrom(far.get(), &byte, 1, 0, source, &size) >= 0)
        static_cast<void>(::sendto(far.get(), &byte, 1, 0, source, size));
      if (::recv(near.get(), &byte, 1, 0) == 1) return true;
    }
  }
  return false;
}

}  // namespace dccp::apps::lab
