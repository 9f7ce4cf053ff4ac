#include "stack/io/socket_table.h"

#include <algorithm>

namespace dccp {

PolledSocket& SocketTable::Add(std::unique_ptr<PolledSocket> socket) {
  PolledSocket& added = *socket;
  sockets_.push_back(std::move(socket));
  by_port_.emplace(Key(added.path()), &added);
  return added;
}

void SocketTable::ServeBothFamilies(PolledSocket& socket) { both_families_ = &socket; }

PolledSocket* SocketTable::Find(const Path& path) const {
  PolledSocket* any = both_families_;
  const auto [first, last] = by_port_.equal_range(Key(path));
  for (auto it = first; it != last; ++it) {
    const IpAddress& local = it->second->path().local;
    if (local == path.local) return it->second;
    if (local.IsUnspecified()) any = it->second;
  }
  return any;
}

void SocketTable::CloseAbandoned(const Endpoint& endpoint, TimePoint now, Duration idle) {
  const auto abandoned = [&](const std::unique_ptr<PolledSocket>& socket) {
    return socket->Abandoned(endpoint, now, idle);
  };
  const auto keep_end = std::stable_partition(
      sockets_.begin(), sockets_.end(), [&](const auto& socket) { return !abandoned(socket); });
  if (keep_end == sockets_.end()) return;
  sockets_.erase(keep_end, sockets_.end());
  by_port_.clear();
  for (const auto& socket : sockets_) by_port_.emplace(Key(socket->path()), socket.get());
}

}  // namespace dccp
