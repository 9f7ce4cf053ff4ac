// Timestamp and Timestamp Echo options of one connection.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/option_writer.h"
#include "dccp/seqno.h"
#include "dccp/time.h"

namespace dccp {

// Timestamps both ways: makes ours and turns their echoes into RTT samples, remembers the peer's
// until it is echoed. Units on the wire are 10 microseconds, elapsed times are rounded down.
// RFC 4340 §13
class Timestamps {
 public:
  // The value of a Timestamp option sent now; never 0, which some peers take for "none".
  static std::uint32_t Value(TimePoint now);
  // Writes a Timestamp option; false: no room.
  bool WriteTimestamp(OptionWriter& out, TimePoint now);
  // The RTT that a Timestamp Echo tells, at least one unit; empty where it echoes nothing that we
  // can have sent: a value from before the first or from the future.
  std::optional<Duration> OnEcho(std::uint32_t echo, Duration elapsed, TimePoint now) const;

  // A packet `seq` of the peer carried Timestamp `value`. Only that of the greatest number is kept.
  void OnTimestamp(std::uint32_t value, Seq64 seq, TimePoint now);
  bool pending() const { return pending_.has_value(); }
  // Writes the Timestamp Echo that is due, in its smallest form; true if one was written. Goes on
  // any packet type.
  bool WriteEcho(OptionWriter& out, TimePoint now);

 private:
  struct Pending {
    std::uint32_t value;
    Seq64 seq;
    TimePoint arrival;
  };
  std::optional<Pending> pending_;
  std::optional<Seq64> newest_;  // number of the newest Timestamp seen, echoed or not
  std::optional<TimePoint> first_sent_;
};

}  // namespace dccp
