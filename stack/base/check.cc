#include "stack/base/check.h"

#undef NDEBUG  // the C library declares its reporter only while assertions are on
#include <cassert>

namespace dccp {

void CheckFailed(const char* condition, const char* file, unsigned line, const char* function) {
  // The core itself does no I/O; the C library's own assertion reporter prints and aborts.
  __assert_fail(condition, file, line, function);
}

}  // namespace dccp
