#include "stack/io/timer_fd.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>

namespace dccp {

bool TimerFd::Open(IoError* error) {
  fd_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (fd_.valid()) return true;
  SetIoError(error, "timerfd_create");
  return false;
}

void TimerFd::Arm(TimePoint deadline) {
  if (deadline == kNever || deadline >= armed_) return;
  // A zero time would disarm it; one in the past fires at once.
  const auto since_origin = std::max(deadline.time_since_epoch(), Duration(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_origin);
  itimerspec when = {};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = (since_origin - seconds).count();
  if (::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0) armed_ = deadline;
}

void TimerFd::Acknowledge() {
  std::uint64_t expirations = 0;
  const ssize_t got = ::read(fd_.get(), &expirations, sizeof(expirations));
  if (got == static_cast<ssize_t>(sizeof(expirations))) armed_ = kNever;
}

}  // namespace dccp
