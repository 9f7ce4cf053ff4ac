// A network of one's own.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/dccp-lab/netlink.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::lab {

// Makes this process one that may make network namespaces: it is, or it moves into a user namespace
// where it is root, which works only before it has threads. False with `*error`, what to do about
// it.
bool MayMakeNetworks(std::string* error);

// Owns a network namespace by a descriptor, without a name: it ends with the last process in it,
// once this object or this process has gone, however that ended, and its interfaces with it.
class NetworkNamespace {
 public:
  static std::optional<NetworkNamespace> Create(std::string* error);

  // To run a program in it: Child::Start.
  int fd() const { return fd_.get(); }
  Netlink& netlink() { return netlink_; }
  // Runs `work` inside, on a thread that ends before this returns; false where it cannot go there.
  bool Inside(const std::function<void()>& work) const;
  // Writes a value below /proc/sys/net.
  bool SetOption(const std::string& name, const std::string& value, std::string* error) const;

 private:
  NetworkNamespace(UniqueFd fd, Netlink netlink)
      : fd_(std::move(fd)), netlink_(std::move(netlink)) {}

  UniqueFd fd_;
  Netlink netlink_;
};

}  // namespace dccp::apps::lab
