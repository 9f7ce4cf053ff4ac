// Where paths cross.
#pragma once

#include <cstdint>
#include <vector>

#include "stack/sim/sim_packet.h"

namespace dccp {

// Passes each packet on by its destination address, at once. A packet without a route vanishes.
class Router final : public PacketSink {
 public:
  void AddRoute(const IpAddress& destination, PacketSink& next) {
    routes_.push_back({destination, &next});
  }
  void SetDefaultRoute(PacketSink& next) { default_ = &next; }

  void Accept(PacketPtr packet) override;
  std::uint64_t unroutable() const { return unroutable_; }

 private:
  struct Route {
    IpAddress destination;
    PacketSink* next;
  };

  std::vector<Route> routes_;
  PacketSink* default_ = nullptr;
  std::uint64_t unroutable_ = 0;
};

}  // namespace dccp
