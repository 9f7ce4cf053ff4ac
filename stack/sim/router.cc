#include "stack/sim/router.h"

#include <utility>

namespace dccp {

void Router::Accept(PacketPtr packet) {
  for (const Route& route : routes_) {
    if (route.destination == packet->path.remote) return route.next->Accept(std::move(packet));
  }
  if (default_ != nullptr) return default_->Accept(std::move(packet));
  ++unroutable_;
}

}  // namespace dccp
