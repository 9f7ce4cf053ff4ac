// How much a long test does. Instrumented builds are many times slower and look for other faults.
#pragma once

#include <cstdint>

namespace dccp {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kEffortDivisor = 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::uint64_t kEffortDivisor = 20;
#else
inline constexpr std::uint64_t kEffortDivisor = 1;
#endif
#else
inline constexpr std::uint64_t kEffortDivisor = 1;
#endif

}  // namespace dccp
