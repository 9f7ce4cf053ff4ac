// Randomness is given, not taken: io/ supplies the operating system's, a simulation a seeded one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp {

// For a real network Fill must be cryptographically strong (initial sequence numbers, ports and
// hash keys come from it). RFC 4340 §3.1, §7.2
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual void Fill(std::span<std::byte> out) = 0;

  std::uint64_t NextUint64() {
    std::uint64_t v = 0;
    Fill(std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
};

}  // namespace dccp
