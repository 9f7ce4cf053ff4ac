#include "stack/endpoint/flow_hash.h"

#include <cstring>

#include "stack/base/byte_order.h"

namespace dccp {

std::span<const std::byte> WriteFlow(const FlowTuple& tuple, FlowBytes& buffer) {
  std::byte* p = buffer.data();
  const Path& path = tuple.path;
  const std::size_t address_bytes = path.remote.size();
  std::memcpy(p, path.local.bytes.data(), address_bytes);
  p += address_bytes;
  std::memcpy(p, path.remote.bytes.data(), address_bytes);
  p += address_bytes;
  StoreBe16(p, tuple.local_port);
  StoreBe16(p + 2, tuple.remote_port);
  StoreBe16(p + 4, path.local_udp_port);
  StoreBe16(p + 6, path.remote_udp_port);
  p += 8;
  if (path.remote.family == IpFamily::kV6) {
    StoreBe32(p, path.remote.scope_id);
    p += 4;
  }
  return {buffer.data(), p};
}

std::uint64_t HashFlow(const SipKey& key, const FlowTuple& tuple) {
  FlowBytes buffer;
  return SipHash24(key, WriteFlow(tuple, buffer));
}

}  // namespace dccp
