#include "apps/dccp-lab/netlink.h"

#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "apps/common/text.h"

namespace dccp::apps::lab {

namespace {

int Family(const IpAddress& address) {
  return address.family == IpFamily::kV4 ? AF_INET : AF_INET6;
}

std::span<const std::byte> BytesOf(const IpAddress& address) {
  return std::as_bytes(std::span(address.bytes)).first(address.family == IpFamily::kV4 ? 4 : 16);
}

}  // namespace

// A message that grows by attributes; nested ones are open between Begin and End.
class Netlink::Request {
 public:
  template <typename Header>
  Request(std::uint16_t type, std::uint16_t flags, const Header& header) {
    nlmsghdr head = {};
    head.nlmsg_type = type;
    head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    Append(&head, sizeof head);
    Append(&header, sizeof header);
  }

  void Add(std::uint16_t type, std::span<const std::byte> value) {
    const rtattr head = {static_cast<std::uint16_t>(sizeof(rtattr) + value.size()), type};
    Append(&head, sizeof head);
    Append(value.data(), value.size());
  }
  void Add(std::uint16_t type, const std::string& value) {
    Add(type, std::as_bytes(std::span(value.c_str(), value.size() + 1)));
  }
  void Add(std::uint16_t type, std::uint32_t value) {
    Add(type, std::as_bytes(std::span(&value, 1)));
  }
  std::size_t Begin(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    Add(type, std::span<const std::byte>());
    return at;
  }
  void End(std::size_t at) {
    const auto length = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &length, sizeof length);
  }
  template <typename Header>
  void AppendHeader(const Header& header) {
    Append(&header, sizeof header);
  }

  // With its length filled in.
  std::vector<std::byte> Finished() const {
    std::vector<std::byte> out = bytes_;
    const auto length = static_cast<std::uint32_t>(out.size());
    std::memcpy(out.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
    return out;
  }

 private:
  void Append(const void* data, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }

  std::vector<std::byte> bytes_;
};

std::optional<Netlink> Netlink::Open(std::string* error) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) {
    *error = fmt::format("cannot open a routing socket: {}", ErrnoText());
    return std::nullopt;
  }
  return Netlink(std::move(fd));
}

bool Netlink::Ask(const Request& request, const std::string& what, std::string* error) {
  const std::vector<std::byte> bytes = request.Finished();
  alignas(nlmsghdr) std::array<std::byte, 16384> answer = {};
  ssize_t got = ::send(fd_.get(), bytes.data(), bytes.size(), 0);
  // The kernel answers within send(): what waits is the answer to this request, and its last word
  // is the acknowledgement.
  while (got >= 0) {
    do got = ::recv(fd_.get(), answer.data(), answer.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(nlmsgerr))) continue;
    nlmsghdr head;
    std::memcpy(&head, answer.data(), sizeof head);
    if (head.nlmsg_type != NLMSG_ERROR) continue;
    nlmsgerr verdict;
    std::memcpy(&verdict, answer.data() + NLMSG_HDRLEN, sizeof verdict);
    if (verdict.error == 0) return true;
    errno = -verdict.error;
    got = -1;
  }
  const int reason = errno;
  *error = fmt::format(
      "cannot {}: {}{}", what, ErrnoText(reason),
      reason == EOPNOTSUPP ? " (this kernel lacks it; try 'modprobe' of its module)" : "");
  return false;
}

bool Netlink::AddVeth(const std::string& name, const std::string& peer, int peer_namespace,
                      std::string* error) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  request.Add(IFLA_IFNAME, name);
  const std::size_t info = request.Begin(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, std::string("veth"));
  const std::size_t data = request.Begin(IFLA_INFO_DATA);
  const std::size_t far = request.Begin(VETH_INFO_PEER);
  request.AppendHeader(ifinfomsg{});
  request.Add(IFLA_IFNAME, peer);
  request.Add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer_namespace));
  request.End(far);
  request.End(data);
  request.End(info);
  return Ask(request, fmt::format("make the veth pair {} and {}", name, peer), error);
}

bool Netlink::AddBridge(const std::string& name, std::string* error) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  request.Add(IFLA_IFNAME, name);
  const std::size_t info = request.Begin(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, std::string("bridge"));
  request.End(info);
  return Ask(request, fmt::format("make the bridge {}", name), error);
}

int Netlink::IndexOf(const std::string& name, std::string* error) {
  // By SIOCGIFINDEX, which needs no parser; sockets of any kind belong to their namespace.
  ifreq request = {};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(fd_.get(), SIOCGIFINDEX, &request) == 0) return request.ifr_ifindex;
  *error = fmt::format("no interface {}: {}", name, ErrnoText());
  return 0;
}

bool Netlink::AttachTo(const std::string& name, const std::string& bridge, std::string* error) {
  const int master = IndexOf(bridge, error);
  if (master == 0) return false;
  Request request(RTM_NEWLINK, 0, ifinfomsg{});
  request.Add(IFLA_IFNAME, name);
  request.Add(IFLA_MASTER, static_cast<std::uint32_t>(master));
  return Ask(request, fmt::format("attach {} to {}", name, bridge), error);
}

bool Netlink::ForbidSegments(const std::string& name, std::string* error) {
  Request request(RTM_NEWLINK, 0, ifinfomsg{});
  request.Add(IFLA_IFNAME, name);
  request.Add(IFLA_GSO_MAX_SEGS, std::uint32_t{1});
  return Ask(request, fmt::format("switch off segmentation at {}", name), error);
}

bool Netlink::SetMtu(const std::string& name, std::uint32_t bytes, std::string* error) {
  Request request(RTM_NEWLINK, 0, ifinfomsg{});
  request.Add(IFLA_IFNAME, name);
  request.Add(IFLA_MTU, bytes);
  return Ask(request, fmt::format("set the MTU of {} to {}", name, bytes), error);
}

bool Netlink::Up(const std::string& name, std::string* error) {
  ifinfomsg header = {};
  header.ifi_flags = IFF_UP;
  header.ifi_change = IFF_UP;
  Request request(RTM_NEWLINK, 0, header);
  request.Add(IFLA_IFNAME, name);
  return Ask(request, fmt::format("set {} up", name), error);
}

bool Netlink::AddAddress(const std::string& name, const IpAddress& address,
                         std::uint8_t prefix_bits, std::string* error) {
  const int index = IndexOf(name, error);
  if (index == 0) return false;
  ifaddrmsg header = {};
  header.ifa_family = static_cast<std::uint8_t>(Family(address));
  header.ifa_prefixlen = prefix_bits;
  header.ifa_flags = IFA_F_NODAD;  // usable at once; nobody else is there
  header.ifa_index = static_cast<std::uint32_t>(index);
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, header);
  request.Add(IFA_LOCAL, BytesOf(address));
  request.Add(IFA_ADDRESS, BytesOf(address));
  return Ask(request, fmt::format("give {} the address {}", name, AddressText(address)), error);
}

bool Netlink::AddDefaultRoute(const IpAddress& gateway, std::string* error) {
  rtmsg header = {};
  header.rtm_family = static_cast<std::uint8_t>(Family(gateway));
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  Request request(RTM_NEWROUTE, NLM_F_CREATE, header);
  request.Add(RTA_GATEWAY, BytesOf(gateway));
  return Ask(request, fmt::format("route through {}", AddressText(gateway)), error);
}

}  // namespace dccp::apps::lab
