// The loop of the emulator: sockets, an exact timer, signals.
#pragma once

#include <string>

#include "dccp/time.h"
#include "stack/io/timer_fd.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::netem {

// Something to read from.
class Readable {
 public:
  virtual ~Readable() = default;
  // `errors`: its error queue is not empty.
  virtual void OnReadable(bool errors) = 0;
};

// What the loop runs for.
class LoopClient {
 public:
  virtual ~LoopClient() = default;
  // After everything that waits has been read. True: something was done.
  virtual bool OnRound() = 0;
  virtual TimePoint NextDeadline() = 0;
};

// Waits with epoll, wakes for deadlines by a timerfd, which has the resolution of the kernel's
// high-resolution timers, and where busy rounds come one after the other begins no two within one
// grain: so many packets share the cost of a wake-up, at the price of being late by up to a grain.
// Packets carry the kernel's time of arrival, so what is read late is not sent later for it, as
// long as the path's delay is longer.
class EventLoop {
 public:
  // False with `*error` filled.
  bool Open(std::string* error);
  bool Watch(int fd, Readable& readable, std::string* error);
  void Forget(int fd);

  // Until SIGINT, SIGTERM or Stop(). A second signal ends the process at once.
  void Run(LoopClient& client, Duration grain);
  void Stop() { stop_ = true; }
  bool interrupted() const { return interrupted_; }

 private:
  class SignalReader final : public Readable {
   public:
    explicit SignalReader(EventLoop& loop) : loop_(loop) {}
    void OnReadable(bool) override { loop_.OnSignal(); }

   private:
    EventLoop& loop_;
  };
  class TimerReader final : public Readable {
   public:
    explicit TimerReader(EventLoop& loop) : loop_(loop) {}
    void OnReadable(bool) override { loop_.timer_.Acknowledge(); }

   private:
    EventLoop& loop_;
  };

  void OnSignal();

  UniqueFd epoll_;
  UniqueFd signals_;
  TimerFd timer_;
  SignalReader signal_reader_{*this};
  TimerReader timer_reader_{*this};
  bool stop_ = false;
  bool interrupted_ = false;
};

// SCHED_FIFO, so that other programs do not hold up the emulator. False with errno set.
bool AskForRealtime();

}  // namespace dccp::apps::netem
