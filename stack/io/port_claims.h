// The DCCP ports of all programs of a host in native mode.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "dccp/endpoint.h"
#include "stack/io/unique_fd.h"

namespace dccp {

// A claim is a Unix socket bound to a name in the abstract namespace that says the port: it belongs
// to the network namespace, as ports do, and ends with the process, however it ends. Deviation from
// what a kernel does: a claim covers every local address of the namespace. Where no descriptor is
// left a port counts as claimed without being protected.
class PortClaims final : public PortArbiter {
 public:
  bool Claim(std::uint16_t port) override;
  void Release(std::uint16_t port) override;
  bool TakenElsewhere(std::uint16_t port) override;

 private:
  struct Held {
    UniqueFd fd;
    std::uint32_t count = 0;
  };
  std::unordered_map<std::uint16_t, Held> held_;
};

}  // namespace dccp
