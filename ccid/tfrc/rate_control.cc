#include "ccid/tfrc/rate_control.h"

#include <algorithm>

#include "ccid/common/tfrc_equation.h"
#include "ccid/tfrc/units.h"

namespace dccp::tfrc {
namespace {

double LeastRate(const RateControl::Path& path) { return path.s / kMaxBackOffSeconds; }

}  // namespace

double RateControl::InitialRate(const Path& path) {
  constexpr double kWindowBytes = 4380;
  const double window = std::min(4 * path.s, std::max(2 * path.s, kWindowBytes));
  return path.r > 0 ? window / path.r : path.s;
}

void RateControl::Start(const Path& path, TimePoint now) {
  started_ = true;
  x_ = InitialRate(path);
  if (path.r > 0) tld_ = now;
  x_recv_set_.Start(now);
}

void RateControl::OnFirstRtt(const Path& path, TimePoint now) {
  x_ = InitialRate(path);
  tld_ = now;
}

void RateControl::OnFeedback(const Report& report, const Path& path) {
  const Duration rtt = FromSeconds(path.r);
  p_ = report.p;
  double recv_limit = 0;
  if (report.x_drop) {
    // A single value, or the larger ones of the last round trips would outlive the reduction.
    x_recv_set_.Replace(std::min(report.x_recv, *report.x_drop / 2), report.now);
    recv_limit = 2 * x_recv_set_.Max();
  } else if (report.data_limited && report.x_recv > 0) {
    const bool halve = report.more_loss;
    if (halve) x_recv_set_.Halve();
    x_recv_set_.Maximize(halve ? 0.85 * report.x_recv : report.x_recv, report.now);
    recv_limit = (halve ? 1 : 2) * x_recv_set_.Max();
  } else {
    x_recv_set_.Update(report.x_recv, report.now, rtt);
    recv_limit = 2 * x_recv_set_.Max();
  }
  if (p_ > 0) {
    const double segment = path.segment > 0 ? path.segment : path.s;
    x_bps_ = TfrcThroughput(segment, rtt, p_) * (path.s / (path.s + path.header));
    FollowEquation(recv_limit, path);
  } else if (tld_ == TimePoint::min() || report.now - tld_ >= rtt) {
    x_ = std::max(std::min(2 * x_, recv_limit), InitialRate(path));
    tld_ = report.now;
  }
}

void RateControl::FollowEquation(double recv_limit, const Path& path) {
  x_ = std::max(std::min(x_bps_, recv_limit), LeastRate(path));
}

bool RateControl::OnNoFeedback(Since since, bool any_feedback, const Path& path, TimePoint now) {
  const double x_recv = x_recv_set_.Max();
  const double recover_rate = InitialRate(path);
  const bool idle = since == Since::kIdle;
  const bool low = p_ > 0 ? x_recv < recover_rate : x_ < 2 * recover_rate;
  if (idle && low) return false;
  if (!any_feedback || p_ <= 0) {
    x_ = std::max(x_ / 2, LeastRate(path));
  } else {
    Limit(x_bps_ > 2 * x_recv ? x_recv : x_bps_ / 2, path, now);
  }
  return true;
}

// "Update_Limits(timer_limit)"
void RateControl::Limit(double timer_limit, const Path& path, TimePoint now) {
  timer_limit = std::max(timer_limit, LeastRate(path));
  x_recv_set_.Replace(timer_limit / 2, now);
  FollowEquation(timer_limit, path);
}

void RateControl::Reduce(double by, double floor) { x_ = std::max(x_ - by, std::min(x_, floor)); }

}  // namespace dccp::tfrc
