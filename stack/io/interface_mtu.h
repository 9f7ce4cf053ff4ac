// The MTU towards a destination, as the routing table knows it. RFC 4340 §14.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dccp/endpoint.h"

namespace dccp {

// Asks the kernel with a connected UDP socket, which sends nothing. Answers are remembered per
// remote address for a short while. Never above 65535, what an IP length field can say; 1500 where
// there is no answer.
class InterfaceMtu final : public PathMtuSource {
 public:
  std::uint32_t InitialMtu(const Path& path) override;
  // Every path leads through one device whose MTU this is.
  void Fix(std::uint32_t mtu_bytes) { fixed_ = mtu_bytes; }

 private:
  struct Entry {
    IpAddress remote;
    std::uint32_t mtu_bytes;
    TimePoint until;
  };
  std::vector<Entry> cache_;
  std::size_t next_ = 0;
  std::uint32_t fixed_ = 0;  // 0: no
};

}  // namespace dccp
