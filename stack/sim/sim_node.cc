#include "stack/sim/sim_node.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stack/base/check.h"

namespace dccp {

namespace {

constexpr std::uint32_t kUdpHeaderBytes = 8;

std::uint32_t IpHeaderBytes(IpFamily family) { return family == IpFamily::kV4 ? 20 : 40; }

std::unique_ptr<Endpoint> CreateEndpoint(const EndpointConfig& config) {
  Result<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(config);
  DCCP_CHECK(endpoint.ok());
  return std::move(endpoint.value());
}

}  // namespace

SimNode::SimNode(Simulator& simulator, PacketPool& pool, const NodeConfig& config)
    : simulator_(simulator), pool_(pool), config_(config), random_(config.seed) {
  EndpointConfig with_own = config.endpoint;
  if (with_own.random == nullptr) with_own.random = &random_;
  if (with_own.mtu == nullptr) with_own.mtu = this;
  endpoint_ = CreateEndpoint(with_own);
  simulator_.Add(*this);
}

SimNode::~SimNode() = default;

Path SimNode::PathTo(const SimNode& peer) const {
  Path path;
  path.local = address();
  path.remote = peer.address();
  if (config_.endpoint.encapsulation == Encapsulation::kUdp) {
    path.local_udp_port = udp_port();
    path.remote_udp_port = peer.udp_port();
  }
  return path;
}

std::uint32_t SimNode::InitialMtu(const Path& /*path*/) { return config_.interface_mtu_bytes; }

void SimNode::Accept(PacketPtr packet) {
  if (!power_) return;
  if (packet->corrupted && config_.endpoint.encapsulation == Encapsulation::kUdp) {
    ++udp_checksum_drops_;
    return;
  }
  InboundDatagram datagram;
  datagram.bytes = packet->bytes;
  datagram.path.local = packet->path.remote;
  datagram.path.remote = packet->path.local;
  datagram.path.local_udp_port = packet->path.remote_udp_port;
  datagram.path.remote_udp_port = packet->path.local_udp_port;
  datagram.ecn = packet->ecn;
  endpoint_->Receive(std::span(&datagram, 1), now());
  Settle();
}

void SimNode::OnIcmp(IcmpKind kind, std::uint32_t mtu_bytes, const SimPacket& packet) {
  if (!power_) return;
  // What RFC 1812 §4.3.2.3 lets a router quote leaves room for any DCCP header without options.
  constexpr std::size_t kQuotedBytes = 128;
  IcmpError error;
  error.kind = kind;
  error.mtu_bytes = mtu_bytes;
  error.path = packet.path;
  error.quoted = std::span(packet.bytes).first(std::min(packet.bytes.size(), kQuotedBytes));
  endpoint_->OnIcmp(error, now());
  Settle();
}

void SimNode::OnSimEvent(std::uint64_t /*cookie*/) {
  if (now() >= wake_up_) wake_up_ = kNever;
  Settle();
}

void SimNode::Settle() {
  // An event handler may run the simulation's calls that settle all nodes.
  if (!power_ || settling_) return;
  settling_ = true;
  if (endpoint_->NextTimeout() <= now()) endpoint_->HandleTimeout(now());
  std::optional<Event> event;
  do {
    while ((event = endpoint_->PollEvent())) {
      if (handler_) handler_(*event);
    }
    TransmitAll();
    // What was sent may have made room, which is an event again.
    event = endpoint_->PollEvent();
    if (event && handler_) handler_(*event);
  } while (event);
  settling_ = false;
  ArmWakeUp();
}

void SimNode::TransmitAll() {
  for (;;) {
    const std::size_t n = endpoint_->Transmit(out_, now());
    if (n == 0) return;
    for (const OutboundDatagram& datagram : std::span(out_).first(n))
      Emit(datagram.bytes, datagram.path, datagram.ecn, datagram.may_fragment);
  }
}

void SimNode::Emit(std::span<const std::byte> bytes, const Path& path, Ecn ecn, bool may_fragment) {
  ++packets_sent_;
  if (uplink_ == nullptr) return;
  PacketPtr packet = pool_.New();
  packet->bytes.assign(bytes.begin(), bytes.end());
  packet->overhead_bytes =
      IpHeaderBytes(path.remote.family) +
      (config_.endpoint.encapsulation == Encapsulation::kUdp ? kUdpHeaderBytes : 0);
  packet->path = path;
  packet->ecn = ecn;
  packet->may_fragment = may_fragment;
  packet->origin = this;
  uplink_->Accept(std::move(packet));
}

void SimNode::Inject(std::span<const std::byte> bytes, const Path& path, Ecn ecn) {
  Emit(bytes, path, ecn, false);
}

void SimNode::SetPower(bool on) {
  power_ = on;
  if (on) ArmWakeUp();
}

// Only an earlier wish needs an event of its own: one that comes too early finds nothing due and
// arms again.
void SimNode::ArmWakeUp() {
  const TimePoint next = endpoint_->NextTimeout();
  if (next >= wake_up_ || next == kNever) return;
  constexpr Duration kGrain = std::chrono::microseconds(1);
  // What is due although it has just been handled must not stop the clock.
  wake_up_ = next > now() ? next : now() + kGrain;
  simulator_.Schedule(wake_up_, *this, 0);
}

}  // namespace dccp
