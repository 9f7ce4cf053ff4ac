// DCCP_CHECK: for programming errors (misuse of an interface, a broken invariant) and nothing else.
// Bytes from the network, and the values parsed from them, must never be able to reach a failing
// check. It is active in every build type.
#pragma once

namespace dccp {

// Ends the process with the place and the text of the failed condition.
[[noreturn]] void CheckFailed(const char* condition, const char* file, unsigned line,
                              const char* function);

}  // namespace dccp

#define DCCP_CHECK(condition)   \
  (static_cast<bool>(condition) \
       ? static_cast<void>(0)   \
       : ::dccp::CheckFailed(#condition, __FILE__, __LINE__, static_cast<const char*>(__func__)))

// Code that cannot be reached, for the end of a switch over every enumerator.
#define DCCP_UNREACHABLE() \
  ::dccp::CheckFailed("unreachable", __FILE__, __LINE__, static_cast<const char*>(__func__))
