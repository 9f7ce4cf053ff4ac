// Runs one emulation.
#pragma once

#include <memory>

#include "apps/dccp-netem/emulation.h"
#include "apps/dccp-netem/event_loop.h"
#include "apps/dccp-netem/netem_options.h"
#include "apps/dccp-netem/netem_report.h"

namespace dccp::apps::netem {

// From the options to the exit code.
class NetemApp final : private LoopClient {
 public:
  explicit NetemApp(const NetemOptions& options) : options_(options), report_(options) {}
  int Run();

 private:
  bool OnRound() override;
  TimePoint NextDeadline() override;

  // Null with `*error` filled.
  std::unique_ptr<Emulation> OpenEmulation(std::string* error);
  std::unique_ptr<Emulation> OpenRelay(std::string* error);
  double SecondsSinceStart(TimePoint now) const {
    return std::chrono::duration<double>(now - start_).count();
  }

  const NetemOptions& options_;
  NetemReport report_;
  EventLoop loop_;
  std::unique_ptr<Emulation> emulation_;
  std::uint16_t listen_port_ = 0;
  TimePoint start_;
  TimePoint end_ = kNever;
  TimePoint next_report_ = kNever;
  TimePoint last_report_;
  TimePoint next_chore_;
};

}  // namespace dccp::apps::netem
