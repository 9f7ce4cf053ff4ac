#include "tests/fuzz/fuzz_input.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UDCCP_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define UDCCP_ADDRESS_SANITIZER
#endif

#ifdef UDCCP_ADDRESS_SANITIZER
// Declared here because GCC ships the runtime without <sanitizer/allocator_interface.h>.
extern "C" std::size_t
__sanitizer_get_current_allocated_bytes();  // NOLINT(bugprone-reserved-identifier)
#else
#include <malloc.h>
#endif

namespace dccp::fuzz {

void Broken(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
  std::abort();
}

std::size_t HeapBytes() {
#ifdef UDCCP_ADDRESS_SANITIZER
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

std::vector<std::byte> FuzzInput::Bytes(std::size_t count) {
  const std::span<const std::uint8_t> taken = bytes_.first(std::min(count, bytes_.size()));
  bytes_ = bytes_.subspan(taken.size());
  const std::span<const std::byte> out = std::as_bytes(taken);
  return {out.begin(), out.end()};
}

}  // namespace dccp::fuzz
