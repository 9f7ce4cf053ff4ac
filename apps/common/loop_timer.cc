#include "apps/common/loop_timer.h"

#include <algorithm>
#include <utility>

namespace dccp::apps {

LoopTimer::LoopTimer(uv_loop_t* loop) : state_(new State) {
  uv_timer_init(loop, &state_->timer);
  state_->timer.data = state_;
}

LoopTimer::~LoopTimer() {
  state_->call = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&state_->timer),
           [](uv_handle_t* handle) { delete static_cast<State*>(handle->data); });
}

void LoopTimer::Once(Duration after, std::function<void()> call) {
  Start(after, Duration::zero(), std::move(call));
}

void LoopTimer::Every(Duration period, std::function<void()> call) {
  Start(period, period, std::move(call));
}

void LoopTimer::Stop() { uv_timer_stop(&state_->timer); }

void LoopTimer::Start(Duration after, Duration period, std::function<void()> call) {
  const auto ms = [](Duration d) {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(d).count()));
  };
  state_->call = std::move(call);
  uv_update_time(state_->timer.loop);
  uv_timer_start(
      &state_->timer,
      [](uv_timer_t* timer) {
        // A copy: the call may start the timer anew or destroy it.
        const std::function<void()> now = static_cast<State*>(timer->data)->call;
        if (now) now();
      },
      ms(after), ms(period));
}

}  // namespace dccp::apps
