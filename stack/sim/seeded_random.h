// Repeatable randomness for simulations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/random.h"

namespace dccp {

// xoshiro256** (Blackman, Vigna 2018), its state filled by SplitMix64. Not for a real network: it
// can be predicted. The same seed gives the same numbers everywhere.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed);

  void Fill(std::span<std::byte> out) override;

  std::uint64_t Next();
  // In [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // True with probability `p`; draws nothing when the answer is certain.
  bool Chance(double p) { return p > 0 && (p >= 1 || Uniform() < p); }
  // In [0, n), n > 0.
  std::uint64_t Below(std::uint64_t n);

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace dccp
