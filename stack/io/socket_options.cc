#include "stack/io/socket_options.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>

namespace dccp {
namespace {

// The privileged form passes the system's limit; without the privilege the limit holds.
void SetBuffer(int fd, int forced, int plain, std::uint32_t bytes) {
  const int value = static_cast<int>(std::min<std::uint32_t>(bytes, INT_MAX / 2));
  if (!SetIntOption(fd, SOL_SOCKET, forced, value)) SetIntOption(fd, SOL_SOCKET, plain, value);
}

}  // namespace

bool SetIntOption(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

bool SetFragmentation(int fd, IpFamily family, bool fragment) {
  if (family == IpFamily::kV4) {
    return SetIntOption(fd, IPPROTO_IP, IP_MTU_DISCOVER,
                        fragment ? IP_PMTUDISC_DONT : IP_PMTUDISC_PROBE);
  }
  return SetIntOption(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
                      fragment ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_PROBE);
}

bool SetCommonOptions(int fd, IpFamily family, bool local_address, std::uint32_t buffer_bytes) {
  const int local = local_address ? 1 : 0;
  bool ok = SetFragmentation(fd, family, false);
  if (family == IpFamily::kV4) {
    ok = ok && SetIntOption(fd, IPPROTO_IP, IP_RECVTOS, 1) &&
         SetIntOption(fd, IPPROTO_IP, IP_PKTINFO, local) &&
         SetIntOption(fd, IPPROTO_IP, IP_RECVERR, 1);
  } else {
    ok = ok && SetIntOption(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
         SetIntOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, local) &&
         SetIntOption(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
  }
  // Errors are polled as priority data; libuv stops a handle that reports a bare error.
  ok = ok && SetIntOption(fd, SOL_SOCKET, SO_SELECT_ERR_QUEUE, 1);
  if (!ok) return false;
  SetBuffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
  SetBuffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
  return true;
}

}  // namespace dccp
