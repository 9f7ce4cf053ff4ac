// The allowed sending rate X. RFC 5348 §4.2-4.4
#pragma once

#include <cstdint>
#include <optional>

#include "ccid/tfrc/receive_rate_set.h"
#include "dccp/time.h"

namespace dccp::tfrc {

// Owns X, what limits it (the equation's X_Bps and X_recv_set) and the time of the last doubling.
// It knows how a feedback or its absence moves X, not when: the sender owns the timer. All rates
// are in bytes a second, as double, so that neither a packet of one byte nor 10 Gbit/s overflow.
// X is never below a packet in 64 seconds.
class RateControl {
 public:
  // The path as the sender sees it now.
  struct Path {
    double s = 1;        // mean payload, at least 1
    double r = 0;        // round trip in seconds; 0: none known
    double segment = 0;  // s of the equation; 0: the mean payload
    double header = 0;   // H: the equation's rate pays for so many bytes a packet. RFC 4828 §3
  };
  struct Report {
    TimePoint now;
    double p = 0;
    double x_recv = 0;
    bool more_loss = false;        // a new loss event, or a greater p
    bool data_limited = false;     // over the whole interval that the feedback covers
    std::optional<double> x_drop;  // Slow Receiver, Data Dropped. RFC 4342 §5.2
  };
  enum class Since : std::uint8_t { kSent, kIdle };  // since the timer was set

  // min(4s, max(2s, 4380)) bytes a round trip. §4.2
  static double InitialRate(const Path& path);

  // The first data packet is about to leave: a packet a second, or the initial rate.
  void Start(const Path& path, TimePoint now);
  // The first round-trip time came after the start.
  void OnFirstRtt(const Path& path, TimePoint now);
  void OnFeedback(const Report& report, const Path& path);
  // The nofeedback timer ran out. False: X does not change, nor would it the next time while the
  // sender stays idle. §4.4
  bool OnNoFeedback(Since since, bool any_feedback, const Path& path, TimePoint now);
  // X falls by this much at most to `floor`. RFC 4342 §5.2
  void Reduce(double by, double floor);

  bool started() const { return started_; }
  double x() const { return x_; }
  double x_bps() const { return x_bps_; }  // of the equation; meaningless while p is 0
  double p() const { return p_; }
  double x_recv() const { return x_recv_set_.Max(); }

 private:
  void Limit(double timer_limit, const Path& path, TimePoint now);
  void FollowEquation(double recv_limit, const Path& path);

  ReceiveRateSet x_recv_set_;
  double x_ = 0;
  double x_bps_ = 0;
  double p_ = 0;
  TimePoint tld_ = TimePoint::min();  // "time last doubled"
  bool started_ = false;
};

}  // namespace dccp::tfrc
