// A flow's tuple as bytes, and their keyed hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/types.h"
#include "stack/base/siphash.h"

namespace dccp {

// Addresses and all ports, in one form a tuple: those of IPv4 and IPv6 differ in length.
inline constexpr std::size_t kMaxFlowBytes = 2 * 16 + 4 * 2 + 4;
using FlowBytes = std::array<std::byte, kMaxFlowBytes>;
// Returns the part of `buffer` that was written.
std::span<const std::byte> WriteFlow(const FlowTuple& tuple, FlowBytes& buffer);

// SipHash of the addresses and all ports. The key is secret, so that a peer who picks ports cannot
// fill one cluster of the table. In native mode the UDP ports are 0 on both sides and the tuple is
// the 4-tuple of RFC 4340 §8.5, step 2; in DCCP-UDP it is the 6-tuple of RFC 6773 §3.8.
std::uint64_t HashFlow(const SipKey& key, const FlowTuple& tuple);

}  // namespace dccp
