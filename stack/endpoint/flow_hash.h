// The keyed hash of a flow's tuple.
#pragma once

#include <cstdint>

#include "dccp/types.h"
#include "stack/base/siphash.h"

namespace dccp {

// SipHash of the addresses and all ports. The key is secret, so that a peer who picks ports cannot
// fill one cluster of the table. In native mode the UDP ports are 0 on both sides and the tuple is
// the 4-tuple of RFC 4340 §8.5, step 2; in DCCP-UDP it is the 6-tuple of RFC 6773 §3.8.
std::uint64_t HashFlow(const SipKey& key, const FlowTuple& tuple);

}  // namespace dccp
