// When the next packet may leave. RFC 5348 §4.6, §8.3
#pragma once

#include <cstdint>

#include "dccp/ccid.h"
#include "dccp/time.h"

namespace dccp::tfrc {

// A value: the nominal time of the last packet, kept to a fraction of a nanosecond, so that errors
// do not add up at any rate. A packet follows the one before after t_ipi, or earlier by half of the
// least of t_ipi, the granularity and the round trip. Time that passes unused is credit, up to
// `max_credit` and never more than a round trip's worth of packets.
//
// Where packets are closer than the granularity they are released in groups, one for each wake-up:
// at most `granularity` or an eighth of the round trip of them, so that no queue of a bandwidth-
// delay product sees a burst of note.
//
// A minimum interval holds whatever the rate and the credit allow, from the time that a packet
// really left: packets then go one by one.
class SendSchedule {
 public:
  struct Config {
    Duration granularity = std::chrono::milliseconds(1);  // t_gran
    Duration max_credit = std::chrono::milliseconds(10);
    Duration min_interval = Duration::zero();  // between any two packets. RFC 4828 §3
  };
  static constexpr std::uint32_t kMaxGroup = 64;

  explicit SendSchedule(const Config& config) : config_(config) {}

  // `t_ipi_seconds` is above zero, `rtt` may be zero: not known yet.
  SendPermit Ask(TimePoint now, double t_ipi_seconds, Duration rtt) const;
  void OnSent(std::uint32_t packets, TimePoint now, double t_ipi_seconds, Duration rtt);
  void Reset() { started_ = false; }

 private:
  SendPermit AskRate(TimePoint now, double t_ipi_seconds, Duration rtt) const;
  // Nanoseconds from `now` to the nominal time of the next packet, with expired credit gone;
  // negative: in the past.
  double UntilNext(TimePoint now, double t_ipi_ns, Duration rtt) const;
  double Early(double t_ipi_ns, Duration rtt) const;

  Config config_;
  TimePoint last_;            // nominal time of the last packet, but for
  double last_fraction_ = 0;  // nanoseconds below one
  TimePoint last_sent_;       // when it left
  bool started_ = false;
};

}  // namespace dccp::tfrc
