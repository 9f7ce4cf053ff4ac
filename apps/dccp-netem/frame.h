// Ethernet frames and the IP headers in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/types.h"

namespace dccp::apps::netem {

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kVlanTagBytes = 4;
inline constexpr std::size_t kMacBytes = 6;

// Where things are in a frame.
struct FrameInfo {
  std::uint32_t l3 = 0;  // offset of what follows the Ethernet header and VLAN tags
  // Of what is neither IPv4 nor IPv6, or broken: nothing but l3.
  std::optional<IpFamily> family = {};
  std::uint32_t ip_header_bytes = 0;  // with IPv4's options; IPv6: the fixed header
  std::uint32_t ip_bytes = 0;         // as the IP header says; padding follows it
  std::uint8_t protocol = 0;          // IPv6: the first Next Header
  bool dont_fragment = false;         // IPv6: always
  bool later_fragment = false;        // without the transport header
};

// Nothing for what is too short to be a frame.
std::optional<FrameInfo> ReadFrame(std::span<const std::byte> frame);

IpAddress FrameSource(std::span<const std::byte> frame, const FrameInfo& info);
IpAddress FrameDestination(std::span<const std::byte> frame, const FrameInfo& info);

Ecn FrameEcn(std::span<const std::byte> frame, const FrameInfo& info);
// Keeps the IPv4 header checksum right, as RFC 1624 §3 tells.
void SetFrameEcn(std::span<std::byte> frame, const FrameInfo& info, Ecn ecn);
// TTL or Hop Limit one lower; false, and nothing done, where it would become 0.
bool DecrementHopLimit(std::span<std::byte> frame, const FrameInfo& info);

// Of the addresses, the length and the protocol. RFC 9293 §3.1, RFC 8200 §8.1
std::uint32_t PseudoHeaderSum(std::span<const std::byte> frame, const FrameInfo& info,
                              std::uint8_t protocol, std::size_t transport_bytes);

// Computes a checksum that the sending kernel left to the hardware: the sum from `start` to the end
// of the packet goes to `start + offset`, which holds the sum of the pseudo-header.
void CompleteChecksum(std::span<std::byte> frame, const FrameInfo& info, std::size_t start,
                      std::size_t offset);

}  // namespace dccp::apps::netem
