#include "stack/base/siphash.h"

#include <bit>

namespace dccp {

namespace {

std::uint64_t LoadLe(const std::byte* p, std::size_t n) {
  std::uint64_t v = 0;
  for (std::size_t i = n; i > 0; --i) v = (v << 8) | std::to_integer<std::uint64_t>(p[i - 1]);
  return v;
}

// The four words of the algorithm's state, named as in the paper.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  explicit SipState(const SipKey& key)
      : v0(key.k0 ^ 0x736f6d6570736575u),
        v1(key.k1 ^ 0x646f72616e646f6du),
        v2(key.k0 ^ 0x6c7967656e657261u),
        v3(key.k1 ^ 0x7465646279746573u) {}

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Compress(std::uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

}  // namespace

SipKey SipKey::FromBytes(std::span<const std::byte, 16> bytes) {
  return {LoadLe(bytes.data(), 8), LoadLe(bytes.data() + 8, 8)};
}

std::uint64_t SipHash24(const SipKey& key, std::span<const std::byte> data) {
  SipState state(key);
  std::size_t done = 0;
  for (; data.size() - done >= 8; done += 8) state.Compress(LoadLe(data.data() + done, 8));
  const std::uint64_t length_byte = static_cast<std::uint64_t>(data.size() & 0xFF) << 56;
  state.Compress(length_byte | LoadLe(data.data() + done, data.size() - done));
  state.v2 ^= 0xFF;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace dccp
