#include "stack/sim/seeded_random.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dccp {

SeededRandom::SeededRandom(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9E3779B97F4A7C15u;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    word = z ^ (z >> 31);
  }
}

std::uint64_t SeededRandom::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

void SeededRandom::Fill(std::span<std::byte> out) {
  while (!out.empty()) {
    const std::uint64_t word = Next();
    const std::size_t n = std::min(out.size(), sizeof word);
    std::memcpy(out.data(), &word, n);
    out = out.subspan(n);
  }
}

std::uint64_t SeededRandom::Below(std::uint64_t n) {
  // Rejects the last, incomplete stretch of n values, so that no value is favoured.
  const std::uint64_t limit = n * (~std::uint64_t{0} / n);
  std::uint64_t v = Next();
  while (v >= limit) v = Next();
  return v % n;
}

}  // namespace dccp
