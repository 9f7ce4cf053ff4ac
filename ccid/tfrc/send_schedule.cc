#include "ccid/tfrc/send_schedule.h"

#include <algorithm>
#include <cmath>

namespace dccp::tfrc {
namespace {

constexpr double kNs = 1e9;
// Longer than any back-off; keeps sums of times in range.
constexpr double kMaxIntervalNs = 1e3 * kNs;

// In this order, so that what is no number becomes the shortest interval.
double Interval(double t_ipi_seconds) {
  return std::min(std::max(1e-3, t_ipi_seconds * kNs), kMaxIntervalNs);
}

double Ns(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

double SendSchedule::UntilNext(TimePoint now, double t_ipi_ns, Duration rtt) const {
  if (!started_) return 0;
  // A long silence is no credit, and must not lose the precision of the sum.
  const Duration passed = std::min<Duration>(now - last_, std::chrono::hours(1));
  const double until = t_ipi_ns - (Ns(passed) - last_fraction_);
  // With the packet that is due itself a burst stays within a round trip's worth. Where a minimum
  // interval keeps bursts away, all nominal times of the last round trip are good.
  const double due = config_.min_interval > Duration::zero() ? 0 : t_ipi_ns;
  const double credit = std::max(std::min(Ns(rtt), Ns(config_.max_credit)) - due, 0.0);
  return std::max(until, -credit);
}

double SendSchedule::Early(double t_ipi_ns, Duration rtt) const {
  return std::min({t_ipi_ns, Ns(config_.granularity), Ns(rtt)}) / 2;
}

SendPermit SendSchedule::Ask(TimePoint now, double t_ipi_seconds, Duration rtt) const {
  SendPermit permit = AskRate(now, t_ipi_seconds, rtt);
  if (config_.min_interval <= Duration::zero()) return permit;
  permit.packets = std::min(permit.packets, 1u);
  const TimePoint earliest = started_ ? last_sent_ + config_.min_interval : now;
  if (now >= earliest) return permit;
  const bool now_by_rate = permit.kind == SendPermit::Kind::kNow;
  return SendPermit::At(now_by_rate ? earliest : Later(earliest, permit.at));
}

SendPermit SendSchedule::AskRate(TimePoint now, double t_ipi_seconds, Duration rtt) const {
  const double t_ipi = Interval(t_ipi_seconds);
  const double until = UntilNext(now, t_ipi, rtt);
  const double early = Early(t_ipi, rtt);
  if (until <= early) {
    const double packets = std::floor((early - until) / t_ipi) + 1;
    return SendPermit::Now(static_cast<std::uint32_t>(std::min(packets, double{kMaxGroup})));
  }
  const double group = std::clamp(
      std::floor(std::min(Ns(config_.granularity), Ns(rtt) / 8) / t_ipi), 1.0, double{kMaxGroup});
  const double wait = until - early + (group - 1) * t_ipi;
  return SendPermit::At(now + Duration(static_cast<Duration::rep>(std::ceil(wait))));
}

void SendSchedule::OnSent(std::uint32_t packets, TimePoint now, double t_ipi_seconds,
                          Duration rtt) {
  if (packets == 0) return;
  const double t_ipi = Interval(t_ipi_seconds);
  const double nominal = UntilNext(now, t_ipi, rtt) + (packets - 1) * t_ipi;
  const double whole = std::floor(nominal);
  last_ = now + Duration(static_cast<Duration::rep>(whole));
  last_fraction_ = nominal - whole;
  last_sent_ = now;
  started_ = true;
}

}  // namespace dccp::tfrc
