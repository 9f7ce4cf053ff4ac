// Emulates a path as an IP router.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/dccp-netem/icmp_error.h"
#include "apps/dccp-netem/link_emulation.h"
#include "apps/dccp-netem/next_hops.h"
#include "stack/base/rate_limit.h"

namespace dccp::apps::netem {

// Passes IPv4 and IPv6 packets of any protocol from each interface to the other, TTL or Hop Limit
// one lower. Both interfaces have addresses, which the hosts on either side use as their gateway;
// this host's kernel answers ARP and neighbour discovery for them, resolves next hops, and must not
// forward itself. Time Exceeded and Packet Too Big are reported to the sender.
// Deviation from RFC 1812 §4.2.2.7: nothing is fragmented. An IPv4 packet that may be fragmented
// passes the emulated MTU whole, and is dropped where the interface's own MTU is smaller.
class Router final : public LinkEmulation {
 public:
  // Null with `*error` filled. `loop` must outlive it.
  static std::unique_ptr<Router> Open(const LinkNames& names, const EmulationConfig& config,
                                      EventLoop& loop, std::string* error);

  void Housekeeping(TimePoint now) override;
  std::string Describe() const override;
  ExtraFigures Extras() override {
    return {{"ttl_expired", ttl_expired_},
            {"too_big_for_link", too_big_for_link_},
            {"icmp_sent", icmp_sent_}};
  }

 private:
  explicit Router(const EmulationConfig& config) : LinkEmulation(config) {}

  bool Admit(std::size_t side, const ReceivedFrame& frame, Packet* packet,
             const FrameInfo& info) override;
  void Address(std::size_t side, Packet* packet) override;
  void TooBig(std::size_t came_in_at, const Packet& packet, std::uint32_t mtu_bytes) override;

  void ReadAddresses();
  bool IsOwn(const IpAddress& address) const;
  void Report(std::size_t side, std::span<const std::byte> frame, const FrameInfo& info,
              IcmpReason reason, std::uint32_t mtu_bytes);

  struct OwnAddress {
    unsigned index;
    IpAddress address;
  };

  NextHops next_hops_;
  std::vector<OwnAddress> own_;
  TokenBucket icmp_limit_{100, std::chrono::seconds(1), 50};
  std::uint64_t ttl_expired_ = 0;
  std::uint64_t too_big_for_link_ = 0;
  std::uint64_t icmp_sent_ = 0;
};

}  // namespace dccp::apps::netem
