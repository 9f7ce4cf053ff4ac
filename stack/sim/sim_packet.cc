#include "stack/sim/sim_packet.h"

namespace dccp {

void ReturnToPool::operator()(SimPacket* packet) const {
  packet->pool->free_.push_back(packet->index);
}

PacketPtr PacketPool::New() {
  if (free_.empty()) {
    packets_.push_back(std::make_unique<SimPacket>());
    SimPacket& packet = *packets_.back();
    // Room for what most paths carry, so that a packet that is used again need not grow.
    constexpr std::size_t kEthernetBytes = 1536;
    packet.bytes.reserve(kEthernetBytes);
    packet.pool = this;
    packet.index = static_cast<std::uint32_t>(packets_.size() - 1);
    return PacketPtr(&packet);
  }
  SimPacket& packet = *packets_[free_.back()];
  free_.pop_back();
  packet.bytes.clear();
  packet.may_fragment = false;
  packet.corrupted = false;
  packet.origin = nullptr;
  return PacketPtr(&packet);
}

PacketPtr PacketPool::Copy(const SimPacket& packet) {
  PacketPtr copy = New();
  copy->bytes.assign(packet.bytes.begin(), packet.bytes.end());
  copy->overhead_bytes = packet.overhead_bytes;
  copy->path = packet.path;
  copy->ecn = packet.ecn;
  copy->may_fragment = packet.may_fragment;
  copy->corrupted = packet.corrupted;
  copy->origin = packet.origin;
  return copy;
}

}  // namespace dccp
