// The loss event rate from the lengths of loss intervals. RFC 5348 §5.4, §5.5
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dccp::tfrc {

// NINTERVAL, or n: so many closed intervals count, beside the open one.
inline constexpr std::size_t kIntervals = 8;

enum class HistoryDiscounting : std::uint8_t { kOff, kOn };

// Whether the interval still open may raise the mean. In TFRC-SP it must not while it is short,
// since its length may yet fall. RFC 4828 §3
enum class OpenInterval : std::uint8_t { kMayCount, kTooShort };

// Owns nothing but the discount factors of the closed intervals; without history discounting it
// keeps no state at all. The same lengths give the same rate at either end of a connection.
class LossAverage {
 public:
  explicit LossAverage(HistoryDiscounting discounting) : discounting_(discounting) {}

  // `lengths`: data packets of each interval, newest first; the first is the one still open, of
  // the others at most kIntervals count. `new_events`: how many of the intervals began since the
  // last call. Zero with fewer than two intervals: without a loss event there is no average.
  double Rate(std::span<const double> lengths, std::size_t new_events,
              OpenInterval open_interval = OpenInterval::kMayCount);

  // Forgets the discount factors.
  void Reset() { factors_.fill(1); }

 private:
  // DF of an open interval `open` before the closed ones `closed`. §5.5
  double Discount(double open, std::span<const double> closed) const;
  void Shift(double discount);

  HistoryDiscounting discounting_;
  std::array<double, kIntervals> factors_ = {1, 1, 1, 1, 1, 1, 1, 1};  // DF_1 to DF_n
};

}  // namespace dccp::tfrc
