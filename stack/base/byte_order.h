// Loads and stores in network byte order. The caller has checked the bounds. RFC 4340 §3.1
#pragma once

#include <cstddef>
#include <cstdint>

namespace dccp {

namespace internal {

template <typename T, std::size_t kBytes>
constexpr T LoadBe(const std::byte* p) {
  std::uint64_t v = 0;
  for (std::size_t i = 0; i < kBytes; ++i) v = (v << 8) | std::to_integer<std::uint64_t>(p[i]);
  return static_cast<T>(v);
}

template <std::size_t kBytes>
constexpr void StoreBe(std::byte* p, std::uint64_t v) {
  for (std::size_t i = kBytes; i > 0; --i) {
    p[i - 1] = static_cast<std::byte>(v & 0xFF);
    v >>= 8;
  }
}

}  // namespace internal

constexpr std::uint8_t Load8(const std::byte* p) { return std::to_integer<std::uint8_t>(*p); }
constexpr std::uint16_t LoadBe16(const std::byte* p) {
  return internal::LoadBe<std::uint16_t, 2>(p);
}
constexpr std::uint32_t LoadBe24(const std::byte* p) {
  return internal::LoadBe<std::uint32_t, 3>(p);
}
constexpr std::uint32_t LoadBe32(const std::byte* p) {
  return internal::LoadBe<std::uint32_t, 4>(p);
}
constexpr std::uint64_t LoadBe48(const std::byte* p) {
  return internal::LoadBe<std::uint64_t, 6>(p);
}
constexpr std::uint64_t LoadBe64(const std::byte* p) {
  return internal::LoadBe<std::uint64_t, 8>(p);
}

// The low bits of `v` that fit are stored.
constexpr void Store8(std::byte* p, std::uint8_t v) { *p = static_cast<std::byte>(v); }
constexpr void StoreBe16(std::byte* p, std::uint16_t v) { internal::StoreBe<2>(p, v); }
constexpr void StoreBe24(std::byte* p, std::uint32_t v) { internal::StoreBe<3>(p, v); }
constexpr void StoreBe32(std::byte* p, std::uint32_t v) { internal::StoreBe<4>(p, v); }
constexpr void StoreBe48(std::byte* p, std::uint64_t v) { internal::StoreBe<6>(p, v); }
constexpr void StoreBe64(std::byte* p, std::uint64_t v) { internal::StoreBe<8>(p, v); }

}  // namespace dccp
