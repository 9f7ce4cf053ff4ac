// A libuv timer that closes itself.
#pragma once

#include <uv.h>

#include <functional>

#include "dccp/time.h"

namespace dccp::apps {

// Owns a uv_timer_t, which outlives it until the loop has closed it. Grain: 1 ms, rounded up.
class LoopTimer {
 public:
  explicit LoopTimer(uv_loop_t* loop);
  ~LoopTimer();
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  void Once(Duration after, std::function<void()> call);
  void Every(Duration period, std::function<void()> call);
  void Stop();

 private:
  struct State {
    uv_timer_t timer;
    std::function<void()> call;
  };
  void Start(Duration after, Duration period, std::function<void()> call);
  State* state_;
};

}  // namespace dccp::apps
