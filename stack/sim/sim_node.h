// A host in the simulated network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"
#include "stack/sim/sim_packet.h"
#include "stack/sim/simulator.h"

namespace dccp {

struct NodeConfig {
  std::string name;
  IpAddress address;
  std::uint16_t udp_port = kDefaultUdpPort;
  std::uint32_t interface_mtu_bytes = 1500;
  std::uint64_t seed = 1;
  EndpointConfig endpoint;  // registry required; random and mtu may stay null: the node's own
};

// Drives one endpoint in virtual time, as dccp/endpoint.h asks a driver to: gives it what arrives,
// calls the event handler, sends what it has, wakes it when it wants to be woken. In DCCP-UDP it
// drops corrupted packets, as the UDP checksum would.
class SimNode final : public PacketSink,
                      public SimActor,
                      public SimParticipant,
                      public IcmpTarget,
                      private PathMtuSource {
 public:
  // `simulator` and `pool` must outlive it. The configuration must be valid.
  SimNode(Simulator& simulator, PacketPool& pool, const NodeConfig& config);
  ~SimNode() override;
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  Endpoint& endpoint() { return *endpoint_; }
  const std::string& name() const { return config_.name; }
  const IpAddress& address() const { return config_.address; }
  std::uint16_t udp_port() const { return config_.udp_port; }
  TimePoint now() const { return simulator_.now(); }

  // From here to `peer`; in native mode without UDP ports.
  Path PathTo(const SimNode& peer) const;
  // Where packets go that leave.
  void SetUplink(PacketSink& uplink) { uplink_ = &uplink; }
  // It may call any Endpoint function.
  void SetEventHandler(std::function<void(const Event&)> handler) { handler_ = std::move(handler); }

  // Sends bytes of the test's own making, from the DCCP header on.
  void Inject(std::span<const std::byte> bytes, const Path& path, Ecn ecn = Ecn::kNotEct);
  // A host that is off loses what arrives, sends nothing and handles no timer.
  void SetPower(bool on);

  void Settle() override;
  void Accept(PacketPtr packet) override;
  void OnSimEvent(std::uint64_t cookie) override;
  void OnIcmp(IcmpKind kind, std::uint32_t mtu_bytes, const SimPacket& packet) override;

  std::uint64_t packets_sent() const { return packets_sent_; }
  std::uint64_t udp_checksum_drops() const { return udp_checksum_drops_; }

 private:
  static constexpr std::size_t kBatch = 64;

  std::uint32_t InitialMtu(const Path& path) override;
  void TransmitAll();
  void ArmWakeUp();
  void Emit(std::span<const std::byte> bytes, const Path& path, Ecn ecn, bool may_fragment);

  Simulator& simulator_;
  PacketPool& pool_;
  NodeConfig config_;
  SeededRandom random_;
  std::unique_ptr<Endpoint> endpoint_;
  PacketSink* uplink_ = nullptr;
  std::function<void(const Event&)> handler_;
  bool power_ = true;
  bool settling_ = false;
  TimePoint wake_up_ = kNever;  // the earliest event that is scheduled
  std::array<OutboundDatagram, kBatch> out_;
  std::uint64_t packets_sent_ = 0;
  std::uint64_t udp_checksum_drops_ = 0;
};

}  // namespace dccp
