// The driver's sockets, found by the path of an outgoing datagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/io/polled_socket.h"

namespace dccp {

class SocketTable {
 public:
  PolledSocket& Add(std::unique_ptr<PolledSocket> socket);
  // Lets a socket that stays open serve the other family as well.
  void ServeBothFamilies(PolledSocket& socket);
  // The socket that sends from path.local and path.local_udp_port; null: there is none.
  PolledSocket* Find(const Path& path) const;
  // Closes the clients' sockets that nothing has used for `idle`.
  void CloseAbandoned(const Endpoint& endpoint, TimePoint now, Duration idle);
  std::size_t size() const { return sockets_.size(); }

  // True if both paths lead through the same socket.
  static bool SameSocket(const Path& a, const Path& b) {
    return a.local_udp_port == b.local_udp_port && a.local == b.local;
  }

 private:
  static std::uint32_t Key(const Path& path) {
    return std::uint32_t{path.local_udp_port} |
           (path.local.family == IpFamily::kV6 ? 0x10000u : 0u);
  }

  std::vector<std::unique_ptr<PolledSocket>> sockets_;
  std::unordered_multimap<std::uint32_t, PolledSocket*> by_port_;
  PolledSocket* both_families_ = nullptr;
};

}  // namespace dccp
