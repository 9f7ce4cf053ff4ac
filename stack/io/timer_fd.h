// A deadline as a file descriptor.
#pragma once

#include "dccp/time.h"
#include "stack/io/io_error.h"
#include "stack/io/unique_fd.h"

namespace dccp {

// Becomes readable at the armed time, to the nanosecond. Re-armed lazily: an earlier alarm than
// needed is left alone, because deadlines move back with every acknowledgement and a system call
// each time would cost more than one spurious wake-up.
class TimerFd {
 public:
  bool Open(IoError* error);
  int fd() const { return fd_.get(); }
  // kNever: no alarm is needed.
  void Arm(TimePoint deadline);
  // Call when readable: takes the alarm.
  void Acknowledge();

 private:
  UniqueFd fd_;
  TimePoint armed_ = kNever;
};

}  // namespace dccp
