// Samples at regular times.
#pragma once

#include <algorithm>
#include <functional>

#include "stack/sim/simulator.h"

namespace dccp::lab {

// Calls `call` every `period`, the first time one period after Start(). It must outlive the
// simulation's run; what it calls may look at endpoints but not make them send.
class Ticker final : public SimActor {
 public:
  Ticker(Simulator& simulator, Duration period, std::function<void()> call)
      : simulator_(simulator),
        period_(std::max<Duration>(period, std::chrono::microseconds(1))),
        call_(std::move(call)) {}

  void Start() {
    ++run_;
    Arm();
  }
  void Stop() { ++run_; }
  Duration period() const { return period_; }

  void OnSimEvent(std::uint64_t run) override {
    if (run != run_) return;
    Arm();
    call_();
  }

 private:
  void Arm() { simulator_.Schedule(simulator_.now() + period_, *this, run_); }

  Simulator& simulator_;
  Duration period_;
  std::function<void()> call_;
  std::uint64_t run_ = 0;
};

}  // namespace dccp::lab
