// Links, addresses and routes of a network namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dccp/types.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::lab {

// A routing socket. Works on the network namespace that it was opened in, whoever calls. Every call
// waits for the kernel's answer, and returns false with `*error` filled where that is no.
class Netlink {
 public:
  static std::optional<Netlink> Open(std::string* error);

  // A cable; its far end is made in the namespace `peer_namespace`, a descriptor.
  bool AddVeth(const std::string& name, const std::string& peer, int peer_namespace,
               std::string* error);
  bool AddBridge(const std::string& name, std::string* error);
  bool AttachTo(const std::string& name, const std::string& bridge, std::string* error);
  // Packets leave one by one: the kernel cuts what a socket gave it for segmentation.
  bool ForbidSegments(const std::string& name, std::string* error);
  bool SetMtu(const std::string& name, std::uint32_t bytes, std::string* error);
  bool Up(const std::string& name, std::string* error);
  bool AddAddress(const std::string& name, const IpAddress& address, std::uint8_t prefix_bits,
                  std::string* error);
  bool AddDefaultRoute(const IpAddress& gateway, std::string* error);

 private:
  class Request;
  explicit Netlink(UniqueFd fd) : fd_(std::move(fd)) {}

  bool Ask(const Request& request, const std::string& what, std::string* error);
  // 0 with `*error` filled where there is none of that name.
  int IndexOf(const std::string& name, std::string* error);

  UniqueFd fd_;
};

}  // namespace dccp::apps::lab
