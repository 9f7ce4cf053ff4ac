// The start of one of our own packets, as an ICMP error quotes it. RFC 4340 §14.1; RFC 792
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/seqno.h"

namespace dccp {

// `seq` is present only where the quotation reaches its end: 16 bytes of DCCP header with X = 1, 12
// with X = 0, and then only the low 24 bits. An error without it may be forged and must not change
// a connection. Ports are as in the packet that we sent: source is ours.
struct IcmpQuote {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  bool extended = true;  // of the quoted packet; meaningful with `seq`
  std::optional<SeqNo> seq;
};

// `dccp` begins at the quoted DCCP header, behind the quoted IP (and UDP) header, and ends where
// the quotation ends. Empty: too short to hold the ports.
std::optional<IcmpQuote> ParseIcmpQuote(std::span<const std::byte> dccp);

}  // namespace dccp
