// X_recv, the rate that a receiver reports. RFC 4342 §8.3, RFC 5348 §6.2
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ccid/tfrc/units.h"
#include "dccp/time.h"

namespace dccp::ccid3 {

// A value: counts payload, and remembers what the count was at the last reports. A rate is the mean
// since the newest report that is a round trip old; RFC 5348 §6.2 allows such a window to be longer
// than a round trip, and it makes each rate a count between two known points in time. Silence does
// not count: after one the window begins a round trip before the data came back.
class ReceiveRateMeter {
 public:
  void OnData(std::uint64_t packets, std::uint64_t bytes, TimePoint now) {
    bytes_ += bytes;
    packets_ += packets;
    if (!fresh_) fresh_since_ = now;
    fresh_ = true;
  }

  // The rate that a report at `now` would give; 0 for the first.
  double Peek(TimePoint now, Duration rtt) const {
    if (count_ == 0) return 0;
    // An eighth less is a round trip too: feedback is clocked by packets, not by the estimate.
    const Duration least = std::max<Duration>(rtt - rtt / 8, Duration(1));
    const std::size_t held = std::min(count_, kHeld);
    std::size_t age = 0;
    while (age + 1 < held && now - At(age).time < least) ++age;
    const TimePoint begin =
        age == 0 && fresh_ ? Later(At(0).time, fresh_since_ - rtt) : At(age).time;
    const Duration t = std::max(now - begin, least);
    return static_cast<double>(bytes_ - At(age).bytes) / tfrc::Seconds(t);
  }

  double Report(TimePoint now, Duration rtt) {
    const double rate = Peek(now, rtt);
    marks_[count_ % kHeld] = {now, bytes_};
    ++count_;
    fresh_ = false;
    most_ = std::max(most_, rate);
    return rate;
  }

  double most_reported() const { return most_; }
  double mean_payload() const {
    return packets_ == 0
               ? 1
               : std::max(static_cast<double>(bytes_) / static_cast<double>(packets_), 1.0);
  }

 private:
  struct Mark {
    TimePoint time;
    std::uint64_t bytes = 0;
  };
  static constexpr std::size_t kHeld = 8;

  const Mark& At(std::size_t age) const { return marks_[(count_ - 1 - age) % kHeld]; }

  std::uint64_t bytes_ = 0;
  std::uint64_t packets_ = 0;
  std::array<Mark, kHeld> marks_ = {};  // a ring
  std::size_t count_ = 0;
  double most_ = 0;
  bool fresh_ = false;     // data came since the last report,
  TimePoint fresh_since_;  // first at
};

}  // namespace dccp::ccid3
