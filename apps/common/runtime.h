// The loop, the driver and everything that a program needs around them.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/common/common_options.h"
#include "dccp/ccid.h"
#include "dccp/trace.h"
#include "dccp/uv_driver.h"

namespace dccp::apps {

// Whether CCID 2 spreads its window over the round trip.
enum class Pacing : std::uint8_t { kOff, kOn };

// The CCIDs of the tools, in their order of preference. Lives as long as the program.
const CcidRegistry& ToolRegistry(Pacing pacing = Pacing::kOff);

// Owns the loop, the driver, the trace files and the signal handlers. The first SIGINT or SIGTERM
// calls the interrupt handler, a second one ends the process at once.
class Runtime {
 public:
  // Null with `*error` filled when something cannot be opened.
  static std::unique_ptr<Runtime> Create(const CommonOptions& options, std::string* error);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  uv_loop_t* loop() { return &loop_; }
  UvDriver& driver() { return *driver_; }
  Endpoint& endpoint() { return driver_->endpoint(); }
  TimePoint now() { return driver_->now(); }

  void SetInterruptHandler(std::function<void()> handler) { on_interrupt_ = std::move(handler); }
  void Run();
  // Run() returns soon.
  void Stop() { uv_stop(&loop_); }
  // Flushes the trace files; false with `*error` filled when one could not be written.
  bool FinishTraces(std::string* error);

 private:
  class Traces;

  Runtime();
  bool StartSignals();
  void OnSignal();

  uv_loop_t loop_ = {};
  uv_signal_t signals_[2] = {};
  bool interrupted_ = false;
  std::function<void()> on_interrupt_;
  std::unique_ptr<Traces> traces_;
  std::unique_ptr<UvDriver> driver_;
};

// One line for a failed system call of the driver's, with advice where there is a known one.
std::string DescribeDriverError(const DriverError& error, const CommonOptions& options);

}  // namespace dccp::apps
