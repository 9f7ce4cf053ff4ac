// CRC-32c, the checksum of application data. RFC 4340 §9.3; RFC 3309
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp {

// Polynomial 0x1EDC6F41, reflected, as SCTP computes it; 0 for no bytes.
std::uint32_t Crc32c(std::span<const std::byte> bytes);

}  // namespace dccp
