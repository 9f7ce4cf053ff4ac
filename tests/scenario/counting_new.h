// Counts every call of operator new in this executable, and what is not given back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dccp {

std::uint64_t AllocationCount();
// Bytes of the blocks that operator new handed out and operator delete has not seen again.
std::size_t LiveBytes();

}  // namespace dccp
