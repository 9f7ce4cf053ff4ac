#include "stack/lab/bottleneck_lab.h"

#include <algorithm>

namespace dccp::lab {
namespace {

EndpointConfig Host(const CcidRegistry& registry, WideInterface& interface) {
  EndpointConfig endpoint;
  endpoint.encapsulation = Encapsulation::kNative;
  endpoint.registry = &registry;
  endpoint.mtu = &interface;
  return endpoint;
}

Duration Within(Duration spread, SeededRandom& random) {
  return spread <= Duration::zero() ? Duration::zero()
                                    : Duration(static_cast<Duration::rep>(random.Below(
                                          static_cast<std::uint64_t>(spread.count()))));
}

}  // namespace

BottleneckLab::BottleneckLab(const BottleneckLabConfig& config)
    : config_(config),
      ccids_(config.ccid2, config.ccid3),
      network_(config.seed, Host(ccids_.registry(), interface_)),
      random_(config.seed ^ 0x626F74746C65u) {
  network_.StopLogging();
  Router& left = network_.AddRouter();
  Router& right = network_.AddRouter();
  bottleneck_ = &network_.AddLink("left>right", config.bottleneck, right);
  left.SetDefaultRoute(*bottleneck_);
  right.SetDefaultRoute(network_.AddLink("right>left", {.delay = config.reverse_delay}, left));
  for (const FlowKind kind : config.flows) AddFlow(kind, left, right);
}

void BottleneckLab::AddFlow(FlowKind kind, Router& left, Router& right) {
  const PathConfig access = {.delay = config_.access_delay + Within(config_.access_spread, random_),
                             .jitter = config_.access_jitter};
  const Duration start = Within(config_.start_spread, random_);
  Flow flow;
  if (kind == FlowKind::kTcp) {
    const IpAddress from = network_.NextAddress();
    const IpAddress to = network_.NextAddress();
    flow.tcp =
        std::make_unique<TcpFlow>(simulator(), network_.pool(), from, to, config_.payload_bytes);
    const DuplexLink near = network_.Attach("tcp sender", from, flow.tcp->sender(), left, access);
    const DuplexLink far = network_.Attach("tcp receiver", to, flow.tcp->receiver(), right, access);
    flow.tcp->SetUplinks(*near.forward, *far.forward);
    simulator().After(start, [tcp = flow.tcp.get()] { tcp->Start(); });
  } else {
    SimNode& client = network_.AddNode("client");
    SimNode& server = network_.AddNode("server");
    network_.Attach(client, left, access);
    network_.Attach(server, right, access);
    BulkFlowConfig bulk;
    bulk.ccid = kind == FlowKind::kCcid2 ? CcidId::k2 : CcidId::k3;
    bulk.payload_bytes = config_.payload_bytes;
    flow.dccp = std::make_unique<BulkFlow>(client, server, bulk);
    simulator().After(start, [dccp = flow.dccp.get()] { dccp->Start(); });
  }
  flows_.push_back(std::move(flow));
}

std::vector<std::uint64_t> BottleneckLab::ReceivedBytes() const {
  std::vector<std::uint64_t> bytes;
  for (const Flow& flow : flows_)
    bytes.push_back(flow.tcp ? flow.tcp->received_bytes() : flow.dccp->received_bytes());
  return bytes;
}

}  // namespace dccp::lab
