// Which packets of protocol 33 are meant for this driver.
#pragma once

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
class NativeFilter {
 public:
  NativeFilter();

  void AddPath(const IpAddress& local);
  void AddServer(const IpAddress& local);  // unspecified: every address of its family
  void OnSent(std::span<const OutboundDatagram> sent);
  bool Wants(const InboundDatagram& packet) const;

 private:
  bool IsLocal(const IpAddress& address) const;

  std::vector<IpAddress> locals_;
  bool any_v4_ = false;
  bool any_v6_ = false;
  bool server_ = false;
  std::unique_ptr<std::bitset<65536>> ports_sent_from_;
};

}  // namespace dccp
