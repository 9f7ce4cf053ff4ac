// The bytes of one fuzzer input, spent from the front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dccp::fuzz {

// Ends the program with a message: that is a finding.
[[noreturn]] void Broken(const char* what, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());

inline void Expect(bool holds, const char* what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (!holds) Broken(what, file, line);
}

// Bytes of the heap in use.
std::size_t HeapBytes();

// Owns nothing. Once the bytes are spent every call answers with zeros, so that each input is a
// whole program whatever its length.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }

  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  bool Bool() { return (Byte() & 1) != 0; }
  // Below `bound`, which is 1 to 256.
  unsigned Below(unsigned bound) { return Byte() % bound; }
  std::uint64_t Integer(std::size_t byte_count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < byte_count; ++i) value = value << 8 | Byte();
    return value;
  }
  // At most `count` bytes, fewer at the end.
  std::vector<std::byte> Bytes(std::size_t count);
  std::vector<std::byte> Rest() { return Bytes(bytes_.size()); }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace dccp::fuzz
