#include "apps/dccp-lab/test_bed.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "dccp/uv_driver.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kBridge = "bridge0";

IpAddress Parsed(const std::string& text) {
  IpAddress address;
  ParseAddress(text, &address);
  return address;
}

// Host `host` of network 1 or 2.
std::string HostAddress(IpFamily family, int network, int host) {
  return family == IpFamily::kV4 ? fmt::format("198.18.{}.{}", network, host)
                                 : fmt::format("2001:2:0:{}::{:x}", network, host);
}

constexpr int kSenderHost = 1;
constexpr int kReceiverHost = 2;
constexpr int kGateway = 254;

std::uint8_t PrefixBits(IpFamily family) { return family == IpFamily::kV4 ? 24 : 64; }

}  // namespace

TestBed::TestBed(Between kind, NetworkNamespace sender, NetworkNamespace between,
                 NetworkNamespace receiver)
    : kind_(kind),
      sender_(std::move(sender)),
      between_(std::move(between)),
      receiver_(std::move(receiver)),
      has_v6_(::access("/proc/net/if_inet6", F_OK) == 0) {}

std::string TestBed::sender_address(IpFamily family) const {
  return HostAddress(family, 1, kSenderHost);
}

std::string TestBed::receiver_address(IpFamily family) const {
  return HostAddress(family, routes() ? 2 : 1, kReceiverHost);
}

std::unique_ptr<TestBed> TestBed::Build(const Options& options, std::string* error) {
  if (!MayMakeNetworks(error)) return nullptr;
  std::optional<NetworkNamespace> sender = NetworkNamespace::Create(error);
  if (!sender) return nullptr;
  std::optional<NetworkNamespace> between = NetworkNamespace::Create(error);
  if (!between) return nullptr;
  std::optional<NetworkNamespace> receiver = NetworkNamespace::Create(error);
  if (!receiver) return nullptr;
  std::unique_ptr<TestBed> bed(
      new TestBed(options.between, std::move(*sender), std::move(*between), std::move(*receiver)));
  const bool good = bed->Lay(options, error) && bed->Address(error) &&
                    (options.between != Between::kKernelBridge || bed->Bridge(error)) &&
                    (options.between != Between::kKernelRouter || bed->Forward(error));
  return good ? std::move(bed) : nullptr;
}

bool TestBed::Lay(const Options& options, std::string* error) {
  NetworkNamespace* const hosts[2] = {&sender_, &receiver_};
  // Link-local addresses are of use at once. Without this the first packets wait.
  std::string ignored;
  if (has_v6_)
    for (NetworkNamespace* const host : {&sender_, &between_, &receiver_})
      static_cast<void>(host->SetOption("ipv6/conf/default/dad_transmits", "0", &ignored));
  for (int i = 0; i < 2; ++i) {
    if (!between_.netlink().AddVeth(kLinks[i], kHostLink, hosts[i]->fd(), error)) return false;
    if (!between_.netlink().SetMtu(kLinks[i], options.mtu, error) ||
        !hosts[i]->netlink().SetMtu(kHostLink, options.mtu, error))
      return false;
    if (!options.segments && (!between_.netlink().ForbidSegments(kLinks[i], error) ||
                              !hosts[i]->netlink().ForbidSegments(kHostLink, error)))
      return false;
    if (!between_.netlink().Up(kLinks[i], error) || !hosts[i]->netlink().Up(kHostLink, error))
      return false;
  }
  return true;
}

bool TestBed::Address(std::string* error) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    if (family == IpFamily::kV6 && !has_v6_) continue;
    const std::uint8_t bits = PrefixBits(family);
    if (!sender_.netlink().AddAddress(kHostLink, Parsed(sender_address(family)), bits, error) ||
        !receiver_.netlink().AddAddress(kHostLink, Parsed(receiver_address(family)), bits, error))
      return false;
    if (!routes()) continue;
    for (int i = 0; i < 2; ++i) {
      const IpAddress gateway = Parsed(HostAddress(family, i + 1, kGateway));
      if (!between_.netlink().AddAddress(kLinks[i], gateway, bits, error) ||
          !(i == 0 ? sender_ : receiver_).netlink().AddDefaultRoute(gateway, error))
        return false;
    }
  }
  return true;
}

bool TestBed::Bridge(std::string* error) {
  Netlink& netlink = between_.netlink();
  return netlink.AddBridge(kBridge, error) && netlink.AttachTo(kLinks[0], kBridge, error) &&
         netlink.AttachTo(kLinks[1], kBridge, error) && netlink.Up(kBridge, error);
}

bool TestBed::Forward(std::string* error) {
  return between_.SetOption("ipv4/ip_forward", "1", error) &&
         (!has_v6_ || between_.SetOption("ipv6/conf/all/forwarding", "1", error));
}

}  // namespace dccp::apps::lab
