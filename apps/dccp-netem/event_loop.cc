#include "apps/dccp-netem/event_loop.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "stack/io/monotonic_clock.h"

namespace dccp::apps::netem {

namespace {

// Busy rounds that follow one another within so many grains share wake-ups.
constexpr int kCrowded = 4;

void SleepUntil(TimePoint when) {
  const auto since_origin = when.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_origin);
  timespec at = {};
  at.tv_sec = seconds.count();
  at.tv_nsec = (since_origin - seconds).count();
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

}  // namespace

bool EventLoop::Open(std::string* error) {
  std::signal(SIGPIPE, SIG_IGN);
  // Sleeps end on time instead of up to 50 us later; not being granted it costs accuracy only.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  IoError fault;
  if (!epoll_.valid() || !signals_.valid() || !timer_.Open(&fault)) {
    *error = fmt::format("cannot set up the event loop: {}", ErrnoText());
    return false;
  }
  return Watch(signals_.get(), signal_reader_, error) && Watch(timer_.fd(), timer_reader_, error);
}

bool EventLoop::Watch(int fd, Readable& readable, std::string* error) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLPRI;
  event.data.ptr = &readable;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return true;
  *error = fmt::format("cannot watch a socket: {}", ErrnoText());
  return false;
}

void EventLoop::Forget(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void EventLoop::Run(LoopClient& client, Duration grain) {
  std::array<epoll_event, 64> events = {};
  TimePoint last_busy;
  while (!stop_) {
    const TimePoint deadline = client.NextDeadline();
    int timeout = -1;
    if (deadline <= MonotonicClock::Now()) {
      timeout = 0;
    } else {
      timer_.Arm(deadline);
    }
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    const TimePoint woken = MonotonicClock::Now();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const bool errors = (event.events & (EPOLLERR | EPOLLPRI)) != 0;
      static_cast<Readable*>(event.data.ptr)->OnReadable(errors);
    }
    const bool busy = client.OnRound();
    if (!busy) continue;
    // Where rounds are rare there is nothing to share.
    if (grain > Duration::zero() && woken - last_busy < kCrowded * grain) SleepUntil(woken + grain);
    last_busy = woken;
  }
}

void EventLoop::OnSignal() {
  signalfd_siginfo info = {};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (interrupted_) _exit(kExitFailed);
    interrupted_ = true;
    stop_ = true;
  }
}

bool AskForRealtime() {
  sched_param parameters = {};
  parameters.sched_priority = 1;
  return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0;
}

}  // namespace dccp::apps::netem
