#include "stack/endpoint/flow_hash.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "stack/base/byte_order.h"

namespace dccp {

std::uint64_t HashFlow(const SipKey& key, const FlowTuple& tuple) {
  // SipHash takes the length in, so the short form of IPv4 cannot meet the long one of IPv6.
  std::array<std::byte, 2 * 16 + 4 * 2 + 4> buffer;
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
  return SipHash24(key, std::span<const std::byte>(buffer.data(), p));
}

}  // namespace dccp
