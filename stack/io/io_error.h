// Why an operating system call failed: what the sockets report, and the driver turns into a
// DriverError.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

namespace dccp {

struct IoError {
  int errno_value = 0;
  std::string what;  // the call and its object, "bind 0.0.0.0:6511"
};

// Takes errno; for use right after the failed call.
inline void SetIoError(IoError* error, std::string what) {
  const int value = errno;
  if (error != nullptr) *error = {value, std::move(what)};
}

}  // namespace dccp
