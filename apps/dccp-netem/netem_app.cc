#include "apps/dccp-netem/netem_app.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apps/common/cpu_clock.h"
#include "apps/common/resolve.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-netem/bridge.h"
#include "apps/dccp-netem/router.h"
#include "apps/dccp-netem/udp_relay.h"
#include "stack/io/monotonic_clock.h"

namespace dccp::apps::netem {

namespace {
constexpr const char* kTool = "dccp-netem";
constexpr Duration kChore = std::chrono::seconds(1);
}  // namespace

std::unique_ptr<Emulation> NetemApp::OpenRelay(std::string* error) {
  const std::vector<IpAddress> listen = Resolve(options_.listen.host, FamilyChoice::kAny, error);
  if (listen.empty()) return nullptr;
  const std::vector<IpAddress> to = Resolve(options_.to.host, FamilyChoice::kAny, error);
  if (to.empty()) return nullptr;
  RelayConfig config;
  config.listen = listen.front();
  config.listen_port = options_.listen.port;
  config.to = to.front();
  // A name with addresses of both families: the one that the clients use is likely meant.
  for (const IpAddress& address : to) {
    if (address.family != config.listen.family) continue;
    config.to = address;
    break;
  }
  config.to_port = options_.to.port;
  config.max_clients = options_.max_clients;
  config.idle = options_.idle;
  std::unique_ptr<UdpRelay> relay = UdpRelay::Open(config, options_.emulation, loop_, error);
  if (relay != nullptr) listen_port_ = relay->listen_port();
  return relay;
}

std::unique_ptr<Emulation> NetemApp::OpenEmulation(std::string* error) {
  if (!loop_.Open(error)) return nullptr;
  const LinkNames names = {options_.interfaces[0], options_.interfaces[1]};
  switch (options_.mode) {
    case Mode::kUdp:
      return OpenRelay(error);
    case Mode::kBridge:
      return Bridge::Open(names, options_.emulation, loop_, error);
    case Mode::kRouter:
      return Router::Open(names, options_.emulation, loop_, error);
  }
  return nullptr;
}

int NetemApp::Run() {
  std::string error;
  if (!report_.Open(&error)) return Fail(kTool, error);
  emulation_ = OpenEmulation(&error);
  if (emulation_ == nullptr) return Fail(kTool, error);
  if (options_.realtime && !AskForRealtime())
    return Fail(kTool, fmt::format("--realtime: {}; it needs CAP_SYS_NICE: run as root, or "
                                   "'setcap cap_sys_nice+ep FILE'",
                                   ErrnoText()));
  start_ = MonotonicClock::Now();
  last_report_ = start_;
  next_chore_ = start_ + kChore;
  if (options_.seconds > Duration::zero()) end_ = start_ + options_.seconds;
  if (options_.interval > Duration::zero()) next_report_ = start_ + options_.interval;
  const Duration cpu_before = ProcessCpuTime();
  report_.Started(*emulation_, listen_port_);
  loop_.Run(*this, options_.grain);
  const TimePoint now = MonotonicClock::Now();
  report_.Ended(*emulation_, SecondsSinceStart(now), ProcessCpuTime() - cpu_before);
  const bool written = report_.Finish();
  if (const std::string failure = emulation_->failure(); !failure.empty())
    return Fail(kTool, failure);
  return written ? kExitDone : kExitFailed;
}

bool NetemApp::OnRound() {
  const TimePoint now = MonotonicClock::Now();
  const bool worked = emulation_->Work(now);
  if (now >= next_chore_) {
    emulation_->Housekeeping(now);
    next_chore_ = now + kChore;
    if (!emulation_->failure().empty()) loop_.Stop();
  }
  if (now >= next_report_) {
    report_.Interval(*emulation_, SecondsSinceStart(last_report_), SecondsSinceStart(now));
    last_report_ = now;
    // Behind by more than an interval: those that were missed are not made up for.
    next_report_ = Later(next_report_ + options_.interval, now);
  }
  if (now >= end_) loop_.Stop();
  return worked;
}

TimePoint NetemApp::NextDeadline() {
  return Earlier(Earlier(emulation_->NextDelivery(), next_chore_), Earlier(next_report_, end_));
}

}  // namespace dccp::apps::netem
