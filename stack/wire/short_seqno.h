// Extends 24-bit sequence numbers to 48 bits. RFC 4340 §7.6
#pragma once

#include <cstdint>

#include "dccp/seqno.h"

namespace dccp {

// The number whose low 24 bits are `s24` and that is nearest to `ref`: GSR for a sequence number,
// GSS for an acknowledgement number. RFC 4340 §7.6
constexpr SeqNo ExtendSequenceNumber(std::uint32_t s24, SeqNo ref) {
  constexpr std::uint32_t kLow = 0xFFFFFFu;
  constexpr std::uint32_t kHalf = 0x800000u;
  const std::uint32_t s = s24 & kLow;
  const std::uint32_t low = ref.low24();
  std::uint64_t high = ref.value() >> 24;
  const bool s_is_after = ((s - low) & kLow) <= kHalf;  // circularly, modulo 2^24
  if (s_is_after && s < low)
    ++high;
  else if (!s_is_after && s > low)
    --high;
  return SeqNo(((high & kLow) << 24) | s);
}

}  // namespace dccp
