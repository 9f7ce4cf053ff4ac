#include "stack/io/interface_mtu.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "stack/io/monotonic_clock.h"
#include "stack/io/socket_address.h"
#include "stack/io/unique_fd.h"

namespace dccp {
namespace {

constexpr std::uint32_t kDefaultMtu = 1500;
constexpr std::uint32_t kMaxMtu = 65535;
constexpr std::size_t kMaxEntries = 64;
constexpr Duration kLifetime = std::chrono::seconds(10);
constexpr std::uint16_t kDiscardPort = 9;

std::uint32_t AskKernel(const Path& path) {
  const bool v4 = path.remote.family == IpFamily::kV4;
  UniqueFd fd(::socket(AddressFamily(path.remote.family), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return kDefaultMtu;
  if (path.local.family == path.remote.family && !path.local.IsUnspecified()) {
    // Best effort: routing by source address matters only where there is such a rule.
    const SocketAddress local(path.local, 0);
    static_cast<void>(::bind(fd.get(), local.get(), local.size()));
  }
  const SocketAddress remote(path.remote, kDiscardPort);
  if (::connect(fd.get(), remote.get(), remote.size()) != 0) return kDefaultMtu;
  int mtu = 0;
  socklen_t length = sizeof(mtu);
  const int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
  if (::getsockopt(fd.get(), level, v4 ? IP_MTU : IPV6_MTU, &mtu, &length) != 0) return kDefaultMtu;
  if (mtu <= 0) return kDefaultMtu;
  return std::min(static_cast<std::uint32_t>(mtu), kMaxMtu);
}

}  // namespace

std::uint32_t InterfaceMtu::InitialMtu(const Path& path) {
  if (fixed_ != 0) return fixed_;
  const TimePoint now = MonotonicClock::Now();
  for (const Entry& entry : cache_) {
    if (entry.remote == path.remote && now < entry.until) return entry.mtu_bytes;
  }
  const Entry entry = {path.remote, AskKernel(path), now + kLifetime};
  if (cache_.size() < kMaxEntries) {
    cache_.push_back(entry);
  } else {
    cache_[next_] = entry;
    next_ = (next_ + 1) % kMaxEntries;
  }
  return entry.mtu_bytes;
}

}  // namespace dccp
