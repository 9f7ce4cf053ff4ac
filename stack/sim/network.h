// Builds and owns a simulated network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stack/sim/link.h"
#include "stack/sim/packet_log.h"
#include "stack/sim/router.h"
#include "stack/sim/sim_node.h"
#include "stack/sim/simulator.h"

namespace dccp {

// The two directions of a connection between neighbours.
struct DuplexLink {
  Link* forward = nullptr;
  Link* reverse = nullptr;
};

// Hosts on two sides that share one bottleneck in each direction.
struct Dumbbell {
  std::vector<SimNode*> left;
  std::vector<SimNode*> right;
  std::vector<DuplexLink> left_access;  // forward: from the host
  std::vector<DuplexLink> right_access;
  DuplexLink bottleneck;  // forward: from left to right
};

struct DumbbellConfig {
  std::size_t hosts_per_side = 2;
  PathConfig access;      // of each access link, in both directions
  PathConfig bottleneck;  // in both directions
};

// Owns the clock, the packets and all parts. Everything random in it follows from `seed`, each part
// with a stream of its own, so that adding a part does not change the others.
class Network {
 public:
  // `defaults` serves nodes made by AddNode(name): registry, encapsulation and budgets.
  Network(std::uint64_t seed, const EndpointConfig& defaults, IpFamily family = IpFamily::kV4);

  Simulator& simulator() { return simulator_; }
  PacketLog& log() { return log_; }
  PacketPool& pool() { return pool_; }

  // Gets the next address, 10.0.0.1 or fd00::1 and so on.
  SimNode& AddNode(const std::string& name) { return AddNode(name, defaults_); }
  SimNode& AddNode(const std::string& name, const EndpointConfig& endpoint);
  Router& AddRouter();
  Link& AddLink(const std::string& name, const PathConfig& config, PacketSink& to);
  // The only link of both.
  DuplexLink Join(SimNode& a, SimNode& b, const PathConfig& forward, const PathConfig& reverse);
  Dumbbell AddDumbbell(const DumbbellConfig& config);
  // An address that nobody else has, for a host of the test's own.
  IpAddress NextAddress();
  // Joins a host to a router, which learns the way to it.
  DuplexLink Attach(SimNode& host, Router& router, const PathConfig& access);
  // The same; the forward link has to be made the host's uplink.
  DuplexLink Attach(const std::string& name, const IpAddress& address, PacketSink& host,
                    Router& router, const PathConfig& access);
  // Links that are added from here on are not logged: long runs need not pay for it.
  void StopLogging() { logging_ = false; }

 private:
  std::uint64_t NextSeed() { return seeds_.Next(); }

  EndpointConfig defaults_;
  IpFamily family_;
  SeededRandom seeds_;
  Simulator simulator_;
  PacketPool pool_;
  PacketLog log_;
  bool logging_ = true;
  std::size_t addresses_ = 0;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace dccp
