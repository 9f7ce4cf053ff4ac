#include "apps/dccp-netem/router.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "stack/io/monotonic_clock.h"
#include "stack/io/socket_address.h"

namespace dccp::apps::netem {

namespace {

bool ReadsOne(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const int first = std::fgetc(file);
  std::fclose(file);
  return first == '1';
}

bool IsLinkLocal(const IpAddress& a) {
  if (a.family == IpFamily::kV4) return a.bytes[0] == 169 && a.bytes[1] == 254;
  return a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0) == 0x80;
}

bool IsLoopback(const IpAddress& a) {
  if (a.family == IpFamily::kV4) return a.bytes[0] == 127;
  return std::all_of(a.bytes.begin(), a.bytes.end() - 1, [](auto b) { return b == 0; }) &&
         a.bytes[15] == 1;
}

// The kernel would pass every packet a second time. Empty: it does not.
std::string KernelForwards(const LinkNames& names) {
  for (const std::string& name : {names.first, names.second}) {
    if (ReadsOne("/proc/sys/net/ipv4/conf/" + name + "/forwarding"))
      return fmt::format(
          "the kernel forwards IPv4 from {} itself; turn that off with "
          "'sysctl -w net.ipv4.conf.{}.forwarding=0'",
          name, name);
  }
  if (ReadsOne("/proc/sys/net/ipv6/conf/all/forwarding"))
    return "the kernel forwards IPv6 itself; turn that off with "
           "'sysctl -w net.ipv6.conf.all.forwarding=0'";
  return "";
}

}  // namespace

std::unique_ptr<Router> Router::Open(const LinkNames& names, const EmulationConfig& config,
                                     EventLoop& loop, std::string* error) {
  std::unique_ptr<Router> router(new Router(config));
  if (!router->OpenLinks(names, LinkSocket::Promiscuous::kNo, loop, error)) return nullptr;
  if (*error = KernelForwards(names); !error->empty()) return nullptr;
  if (!router->next_hops_.Open(error)) return nullptr;
  router->ReadAddresses();
  for (std::size_t side = 0; side < 2; ++side) {
    const unsigned index = router->link(side).index();
    if (std::any_of(router->own_.begin(), router->own_.end(), [&](const OwnAddress& own) {
          return own.index == index && !IsLinkLocal(own.address);
        }))
      continue;
    *error = fmt::format(
        "{} has no IP address that hosts could use as their gateway; "
        "'ip address add ADDRESS/LENGTH dev {}', or use a bridge",
        router->link(side).name(), router->link(side).name());
    return nullptr;
  }
  return router;
}

std::string Router::Describe() const {
  return fmt::format("Routing {} -> {}", link(0).name(), link(1).name());
}

void Router::Housekeeping(TimePoint now) {
  LinkEmulation::Housekeeping(now);
  ReadAddresses();
}

void Router::ReadAddresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return;
  own_.clear();
  for (const ifaddrs* a = list; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr) continue;
    OwnAddress own = {};
    own.index = ::if_nametoindex(a->ifa_name);
    if (a->ifa_addr->sa_family == AF_INET) {
      sockaddr_in in = {};
      std::memcpy(&in, a->ifa_addr, sizeof in);
      own.address = FromInAddr(in.sin_addr);
    } else if (a->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 in = {};
      std::memcpy(&in, a->ifa_addr, sizeof in);
      own.address = FromIn6Addr(in.sin6_addr, 0);
    } else {
      continue;
    }
    own_.push_back(own);
  }
  ::freeifaddrs(list);
}

bool Router::IsOwn(const IpAddress& address) const {
  return std::any_of(own_.begin(), own_.end(),
                     [&](const OwnAddress& own) { return own.address == address; });
}

bool Router::Admit(std::size_t side, const ReceivedFrame& frame, Packet* packet,
                   const FrameInfo& info) {
  if (!frame.to_us || !info.family) return false;
  const IpAddress source = FrameSource(packet->bytes(), info);
  const IpAddress destination = FrameDestination(packet->bytes(), info);
  for (const IpAddress& address : {source, destination})
    if (address.IsUnspecified() || address.IsMulticastOrBroadcast() || IsLinkLocal(address) ||
        IsLoopback(address))
      return false;
  if (IsOwn(destination)) return false;
  if (const std::uint32_t mtu = link(1 - side).mtu(); info.ip_bytes > mtu) {
    ++too_big_for_link_;
    if (info.dont_fragment) Report(side, packet->bytes(), info, IcmpReason::kTooBig, mtu);
    return false;
  }
  if (!DecrementHopLimit(packet->bytes(), info)) {
    ++ttl_expired_;
    Report(side, packet->bytes(), info, IcmpReason::kTimeExceeded, 0);
    return false;
  }
  packet->may_fragment = !info.dont_fragment;
  return true;
}

void Router::Address(std::size_t side, Packet* packet) {
  const std::optional<FrameInfo> info = ReadFrame(packet->bytes());
  if (!info || !info->family) {
    // A flipped bit cannot have hit the header; whatever it was, it has no destination.
    packet->outcome = Outcome::kRefused;
    return;
  }
  const NextHops::Answer answer = next_hops_.Find(
      link(side).index(), FrameDestination(packet->bytes(), *info), MonotonicClock::Now());
  switch (answer.state) {
    case NextHops::State::kKnown:
      std::memcpy(packet->data(), answer.mac.data(), kMacBytes);
      std::memcpy(packet->data() + kMacBytes, link(side).mac().data(), kMacBytes);
      break;
    case NextHops::State::kAsking:
      packet->outcome = Outcome::kTryAgain;
      break;
    case NextHops::State::kNone:
      packet->outcome = Outcome::kUnresolved;
      break;
  }
}

void Router::TooBig(std::size_t came_in_at, const Packet& packet, std::uint32_t mtu_bytes) {
  const std::optional<FrameInfo> info = ReadFrame(packet.bytes());
  if (info && info->dont_fragment)
    Report(came_in_at, packet.bytes(), *info, IcmpReason::kTooBig, mtu_bytes);
}

void Router::Report(std::size_t side, std::span<const std::byte> frame, const FrameInfo& info,
                    IcmpReason reason, std::uint32_t mtu_bytes) {
  if (!MayReport(frame, info) || !icmp_limit_.Take(MonotonicClock::Now())) return;
  const auto own = std::find_if(own_.begin(), own_.end(), [&](const OwnAddress& a) {
    return a.index == link(side).index() && a.address.family == *info.family &&
           !IsLinkLocal(a.address);
  });
  if (own == own_.end()) return;
  std::array<std::byte, kMaxIcmpFrameBytes> out;
  const std::size_t bytes = WriteIcmpError(frame, info, reason, own->address, mtu_bytes, out);
  if (link(side).SendFrame(std::span(out).first(bytes))) ++icmp_sent_;
}

}  // namespace dccp::apps::netem
