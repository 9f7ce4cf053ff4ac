// The errors that a router reports to a packet's sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/dccp-netem/frame.h"
#include "dccp/types.h"

namespace dccp::apps::netem {

enum class IcmpReason : std::uint8_t { kTimeExceeded, kTooBig };

// At most what IPv6 allows, with its link header. RFC 4443 §2.4
inline constexpr std::size_t kMaxIcmpFrameBytes = 1280 + kEthernetBytes + 2 * kVlanTagBytes;

// No error is sent about an ICMP error, a later fragment, a packet to many, or one from nobody in
// particular. RFC 1812 §4.3.2.7, RFC 4443 §2.4
bool MayReport(std::span<const std::byte> frame, const FrameInfo& info);

// Writes the frame of an error about `frame` into `out`, back to where that came from; how long it
// is. `source` is the router's address on that side, `mtu_bytes` for kTooBig. RFC 792, RFC 1191 §4,
// RFC 4443 §3
std::size_t WriteIcmpError(std::span<const std::byte> frame, const FrameInfo& info,
                           IcmpReason reason, const IpAddress& source, std::uint32_t mtu_bytes,
                           std::span<std::byte, kMaxIcmpFrameBytes> out);

}  // namespace dccp::apps::netem
