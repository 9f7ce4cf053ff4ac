#include "stack/sim/network.h"

namespace dccp {

Network::Network(std::uint64_t seed, const EndpointConfig& defaults, IpFamily family)
    : defaults_(defaults), family_(family), seeds_(seed) {}

IpAddress Network::NextAddress() {
  const std::size_t number = ++addresses_;
  const auto high = static_cast<std::uint8_t>(number >> 8);
  const auto low = static_cast<std::uint8_t>(number);
  IpAddress address;
  address.family = family_;
  if (family_ == IpFamily::kV4) {
    address.bytes = {10, 0, high, low};
  } else {
    address.bytes = {0xFD};
    address.bytes[14] = high;
    address.bytes[15] = low;
  }
  return address;
}

SimNode& Network::AddNode(const std::string& name, const EndpointConfig& endpoint) {
  NodeConfig config;
  config.name = name;
  config.address = NextAddress();
  config.seed = NextSeed();
  config.endpoint = endpoint;
  nodes_.push_back(std::make_unique<SimNode>(simulator_, pool_, config));
  return *nodes_.back();
}

Router& Network::AddRouter() {
  routers_.push_back(std::make_unique<Router>());
  return *routers_.back();
}

Link& Network::AddLink(const std::string& name, const PathConfig& config, PacketSink& to) {
  links_.push_back(std::make_unique<Link>(name, simulator_, pool_, config, NextSeed(), to));
  if (logging_) links_.back()->SetObserver(&log_);
  return *links_.back();
}

DuplexLink Network::Join(SimNode& a, SimNode& b, const PathConfig& forward,
                         const PathConfig& reverse) {
  DuplexLink duplex;
  duplex.forward = &AddLink(a.name() + ">" + b.name(), forward, b);
  duplex.reverse = &AddLink(b.name() + ">" + a.name(), reverse, a);
  a.SetUplink(*duplex.forward);
  b.SetUplink(*duplex.reverse);
  return duplex;
}

DuplexLink Network::Attach(const std::string& name, const IpAddress& address, PacketSink& host,
                           Router& router, const PathConfig& access) {
  DuplexLink duplex;
  duplex.forward = &AddLink(name + ">router", access, router);
  duplex.reverse = &AddLink("router>" + name, access, host);
  router.AddRoute(address, *duplex.reverse);
  return duplex;
}

DuplexLink Network::Attach(SimNode& host, Router& router, const PathConfig& access) {
  const DuplexLink duplex = Attach(host.name(), host.address(), host, router, access);
  host.SetUplink(*duplex.forward);
  return duplex;
}

Dumbbell Network::AddDumbbell(const DumbbellConfig& config) {
  Dumbbell dumbbell;
  Router& left = AddRouter();
  Router& right = AddRouter();
  dumbbell.bottleneck.forward = &AddLink("left>right", config.bottleneck, right);
  dumbbell.bottleneck.reverse = &AddLink("right>left", config.bottleneck, left);
  left.SetDefaultRoute(*dumbbell.bottleneck.forward);
  right.SetDefaultRoute(*dumbbell.bottleneck.reverse);
  for (std::size_t i = 0; i < config.hosts_per_side; ++i) {
    const std::string number = std::to_string(i);
    dumbbell.left.push_back(&AddNode("left" + number));
    dumbbell.left_access.push_back(Attach(*dumbbell.left.back(), left, config.access));
    dumbbell.right.push_back(&AddNode("right" + number));
    dumbbell.right_access.push_back(Attach(*dumbbell.right.back(), right, config.access));
  }
  return dumbbell;
}

}  // namespace dccp
