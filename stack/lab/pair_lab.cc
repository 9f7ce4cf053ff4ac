#include "stack/lab/pair_lab.h"

namespace dccp::lab {
namespace {

EndpointConfig Host(const PairLabConfig& config, const CcidRegistry& registry,
                    WideInterface& interface) {
  EndpointConfig endpoint;
  endpoint.encapsulation = config.encapsulation;
  endpoint.registry = &registry;
  endpoint.mtu = &interface;
  return endpoint;
}

}  // namespace

PairLab::PairLab(const PairLabConfig& config)
    : ccids_(config.ccid2, config.ccid3),
      network_(config.seed, Host(config, ccids_.registry(), interface_), config.family) {
  network_.StopLogging();
  SimNode& client = network_.AddNode("client");
  const CcidRegistry& registry =
      config.server_ccids != nullptr ? *config.server_ccids : ccids_.registry();
  server_ = &network_.AddNode("server", Host(config, registry, interface_));
  links_ = network_.Join(client, *server_, config.forward, config.reverse);
  flow_ = std::make_unique<BulkFlow>(client, *server_, config.flow);
}

bool PairLab::Open(Duration limit) {
  flow_->Start();
  return simulator().RunUntil([this] { return flow_->open() || flow_->failed(); }, limit) &&
         flow_->open();
}

double PairLab::PacketBytes() const {
  const LinkCounters& counters = links_.forward->counters();
  return counters.offered == 0
             ? 0
             : static_cast<double>(counters.offered_bytes) / static_cast<double>(counters.offered);
}

}  // namespace dccp::lab
