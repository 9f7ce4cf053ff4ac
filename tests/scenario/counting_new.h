// Counts every call of operator new in this executable.
#pragma once

#include <cstdint>

namespace dccp {

std::uint64_t AllocationCount();

}  // namespace dccp
