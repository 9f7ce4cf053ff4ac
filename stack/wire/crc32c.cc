#include "stack/wire/crc32c.h"

#include <array>

#if defined(__SSE4_2__) && defined(__x86_64__)
#include <nmmintrin.h>

#include <cstring>
#define DCCP_CRC32C_INSTRUCTION 1
#endif

namespace dccp {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78u;

// kTables[0] advances the CRC by one byte, kTables[k] by that byte and k zero bytes after it, so
// that eight look-ups take eight bytes at once.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables t = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    t[0][i] = crc;
  }
  for (std::size_t k = 1; k < t.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xFF];
  return t;
}

constexpr Tables kTables = MakeTables();

std::uint32_t AddByte(std::uint32_t crc, std::byte b) {
  return (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(b)) & 0xFF];
}

#ifndef DCCP_CRC32C_INSTRUCTION
std::uint32_t LoadLe32(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) | std::to_integer<std::uint32_t>(p[1]) << 8 |
         std::to_integer<std::uint32_t>(p[2]) << 16 | std::to_integer<std::uint32_t>(p[3]) << 24;
}
#endif

std::uint32_t AddEightBytes(std::uint32_t crc, const std::byte* p) {
#ifdef DCCP_CRC32C_INSTRUCTION
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
#else
  const std::uint32_t a = LoadLe32(p) ^ crc;
  const std::uint32_t b = LoadLe32(p + 4);
  return kTables[7][a & 0xFF] ^ kTables[6][(a >> 8) & 0xFF] ^ kTables[5][(a >> 16) & 0xFF] ^
         kTables[4][a >> 24] ^ kTables[3][b & 0xFF] ^ kTables[2][(b >> 8) & 0xFF] ^
         kTables[1][(b >> 16) & 0xFF] ^ kTables[0][b >> 24];
#endif
}

}  // namespace

std::uint32_t Crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  const std::byte* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) crc = AddEightBytes(crc, p);
  for (; n > 0; ++p, --n) crc = AddByte(crc, *p);
  return ~crc;
}

}  // namespace dccp
