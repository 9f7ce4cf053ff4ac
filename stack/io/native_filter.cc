#include "stack/io/native_filter.h"

#include <algorithm>

#include "stack/io/native_program.h"

namespace dccp {
namespace {

std::size_t PortAt(std::span<const std::byte> packet, std::size_t offset) {
  return std::to_integer<std::size_t>(packet[offset]) << 8 |
         std::to_integer<std::size_t>(packet[offset + 1]);
}

PacketType TypeOf(std::span<const std::byte> packet) {
  return static_cast<PacketType>(std::to_integer<unsigned>(packet[8]) >> 1 & 0x0Fu);
}

bool IsLoopbackV4(const IpAddress& address) {
  return address.family == IpFamily::kV4 && address.bytes[0] == 127;
}

// From this host to this host.
bool IsLooped(const Path& path) {
  return path.local == path.remote || (IsLoopbackV4(path.local) && IsLoopbackV4(path.remote));
}

}  // namespace

NativeFilter::NativeFilter() : ports_sent_from_(std::make_unique<std::bitset<65536>>()) {}

void NativeFilter::AddPath(const IpAddress& local) {
  if (std::find(locals_.begin(), locals_.end(), local) == locals_.end()) locals_.push_back(local);
}

void NativeFilter::AddServer(const IpAddress& local) {
  server_ = true;
  if (!local.IsUnspecified()) {
    AddPath(local);
  } else if (local.family == IpFamily::kV4) {
    any_v4_ = true;
  } else {
    any_v6_ = true;
  }
}

bool NativeFilter::OnSent(std::span<const OutboundDatagram> sent) {
  bool changed = false;
  for (const OutboundDatagram& datagram : sent) {
    const std::size_t port = PortAt(datagram.bytes, 0);
    if (ports_sent_from_->test(port)) continue;
    ports_sent_from_->set(port);
    if (ports_.size() > kMaxProgramPorts) continue;
    ports_.push_back(static_cast<std::uint16_t>(port));
    changed = true;
  }
  return changed;
}

std::vector<sock_filter> NativeFilter::Program(IpFamily family) const {
  if (ports_.size() > kMaxProgramPorts) return {};
  return NativeProgram(family, ports_, server_);
}

bool NativeFilter::IsLocal(const IpAddress& address) const {
  if (address.family == IpFamily::kV4 ? any_v4_ : any_v6_) return true;
  return std::find(locals_.begin(), locals_.end(), address) != locals_.end();
}

bool NativeFilter::Wants(const InboundDatagram& packet) const {
  if (!IsLocal(packet.path.local)) return false;
  if (ports_sent_from_->test(PortAt(packet.bytes, 2))) return true;
  if (!server_) return false;
  const bool own = IsLooped(packet.path) && ports_sent_from_->test(PortAt(packet.bytes, 0));
  return !own || TypeOf(packet.bytes) == PacketType::kRequest;
}

}  // namespace dccp
