// A packet inside the simulated network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dccp/endpoint.h"
#include "dccp/types.h"

namespace dccp {

class PacketPool;
struct SimPacket;

// Hears of a packet that a link could not carry, as the sender's IP layer would by ICMP.
class IcmpTarget {
 public:
  virtual ~IcmpTarget() = default;
  virtual void OnIcmp(IcmpKind kind, std::uint32_t mtu_bytes, const SimPacket& packet) = 0;
};

struct SimPacket {
  std::vector<std::byte> bytes;      // from the DCCP header
  std::uint32_t overhead_bytes = 0;  // headers below DCCP
  Path path;                         // as its sender sees it: local is the source
  Ecn ecn = Ecn::kNotEct;
  bool may_fragment = false;
  bool corrupted = false;
  IcmpTarget* origin = nullptr;  // may be null
  PacketPool* pool = nullptr;
  std::uint32_t index = 0;  // in the pool

  std::size_t ip_bytes() const { return bytes.size() + overhead_bytes; }
};

struct ReturnToPool {
  void operator()(SimPacket* packet) const;
};
using PacketPtr = std::unique_ptr<SimPacket, ReturnToPool>;

// Owns all packets of a network and recycles them. A packet can be parked: its index then stands
// for it, as the cookie of an event does, until Unpark.
class PacketPool {
 public:
  PacketPtr New();
  PacketPtr Copy(const SimPacket& packet);

  std::uint32_t Park(PacketPtr packet) { return packet.release()->index; }
  PacketPtr Unpark(std::uint32_t index) { return PacketPtr(packets_[index].get()); }

  // Packets not returned yet.
  std::size_t in_use() const { return packets_.size() - free_.size(); }

 private:
  friend struct ReturnToPool;

  std::vector<std::unique_ptr<SimPacket>> packets_;
  std::vector<std::uint32_t> free_;
};

// Takes packets: a node, a router, a link.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void Accept(PacketPtr packet) = 0;
};

}  // namespace dccp
