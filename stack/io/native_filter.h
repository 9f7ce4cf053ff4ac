// Which packets of protocol 33 are meant for this driver.
#pragma once

#include <linux/filter.h>

#include <bitset>
#include <memory>
#include <span>
#include <vector>

#include "dccp/endpoint.h"

namespace dccp {

// A raw socket receives every DCCP packet of the host: those of other programs, and over loopback
// its own. An endpoint would answer them with Resets (RFC 4340 §8.5, step 2) and end connections
// that are none of its business, so the driver passes on only
//   - packets to a local address that it opened a path from or serves;
//   - without a server: packets to a DCCP port that it has sent from;
//   - with one: all but its own, looped back. Requests pass, because a program may connect to
//     itself. Which of the rest belong to other programs the endpoint learns from PortClaims.
// What the ports tell, the kernel can find out before a packet takes room in the socket: Program().
class NativeFilter {
 public:
  NativeFilter();

  void AddPath(const IpAddress& local);
  void AddServer(const IpAddress& local);  // unspecified: every address of its family
  // True if the program changed.
  bool OnSent(std::span<const OutboundDatagram> sent);
  bool Wants(const InboundDatagram& packet) const;
  // For a raw socket of `family`. Empty: too many ports, let everything pass.
  std::vector<sock_filter> Program(IpFamily family) const;

 private:
  bool IsLocal(const IpAddress& address) const;

  std::vector<IpAddress> locals_;
  bool any_v4_ = false;
  bool any_v6_ = false;
  bool server_ = false;
  std::unique_ptr<std::bitset<65536>> ports_sent_from_;
  std::vector<std::uint16_t> ports_;  // the same, as far as a program takes them, and one more
};

}  // namespace dccp
