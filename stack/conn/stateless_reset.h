// The Reset that answers a packet for which no connection exists.
#pragma once

#include <cstddef>
#include <span>

#include "dccp/types.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// Reset without options: 16 bytes generic header, 8 acknowledgement, 4 code and data.
inline constexpr std::size_t kStatelessResetBytes = 28;

// Writes the answer to `packet` into `out`; `path` is that on which the packet came. The numbers
// are taken from the packet, since CLOSED, LISTEN and TIMEWAIT have none of their own: sequence
// number P.ackno + 1 or 0, acknowledgement number P.seqno, and of a packet with short numbers 24
// bits of each. In DCCP-UDP the checksum stays 0. The caller makes sure that `packet` is no Reset:
// those are never answered. RFC 4340 §8.3.1, RFC 6773 §3.3
void WriteStatelessReset(const PacketView& packet, const ResetReason& reason, const Path& path,
                         Encapsulation encapsulation,
                         std::span<std::byte, kStatelessResetBytes> out);

}  // namespace dccp
