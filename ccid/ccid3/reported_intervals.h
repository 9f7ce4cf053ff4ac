// The loss intervals that a receiver reports, as the sender keeps them. RFC 4342 §8.6, RFC 5622
// §8.7
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ccid/ccid3/options.h"
#include "ccid/ccid3/window_counter.h"
#include "ccid/tfrc/loss_average.h"
#include "ccid/tfrc/profile.h"
#include "dccp/ccid.h"
#include "dccp/seqno.h"

namespace dccp::ccid3 {

// Owns the newest intervals with their absolute numbers, so that a receiver may leave out what the
// sender knows already, and the events that the sender has to add because data was corrupted.
// Bytes from the network: anything may be in the options, nothing is believed that contradicts the
// sender's own numbers, and no interval is longer in data than in sequence numbers but the first.
//
// Where the user asks for it, an interval of at most two round trips by the sender's own window
// counters is as long as its data divided by its lost packets. RFC 4828 §3
class ReportedIntervals {
 public:
  static constexpr std::size_t kMost = tfrc::kIntervals + 1;

  // `first`: no packet of the half-connection was sent before.
  explicit ReportedIntervals(Seq64 first) : first_(first), known_until_(first) {}

  // The Loss Intervals options of a feedback, in order. Returns the number of new loss events.
  std::size_t Update(Seq64 acked, std::span<const LossIntervalsView> options);
  // The same for TFRC-SP, with the Dropped Packets options of the same feedback.
  std::size_t Update(Seq64 acked, std::span<const LossIntervalsView> options,
                     std::span<const DroppedPacketsView> dropped, const WindowCounter& counters);
  // Data packet `seq` came to harm that counts as a mark. True: a loss event of its own, no more
  // than a round trip away from none that is known. `first_interval` stands for the time before
  // it, should it be the first. RFC 4340 §11.7.2
  bool AddMark(Seq64 seq, const WindowCounter& counters, double first_interval);

  // Data packets of each interval, newest first, for LossAverage. Valid until the next call.
  std::span<const double> Lengths();
  // The interval still open is one of those that count by lost packets.
  tfrc::OpenInterval open_interval() const { return open_; }

 private:
  struct Entry {
    Seq64 start;
    Seq64 end;  // one beyond the last
    double data = 0;
    bool before_loss = false;  // the first interval, which has no lossy part
    std::uint32_t loss_length = 0;
    std::uint32_t lost = 0;     // Drop Count, at most loss_length
    std::uint64_t counter = 0;  // window counter of `start`
    double divisor = 1;
  };
  static constexpr std::size_t kMaxMarks = 8;

  Seq64 KnownStart(Seq64 latest) const;
  std::size_t Parse(Seq64 acked, std::span<const LossIntervalsView> options, std::span<Entry> out,
                    std::size_t* new_events);
  void FindShort(std::span<Entry> fresh, Seq64 acked, const WindowCounter& counters);
  std::size_t Merge(std::span<Entry> fresh, std::size_t n) const;
  void Emit(double data) {
    if (length_count_ < kMost) lengths_[length_count_++] = data;
  }

  Seq64 first_;
  Seq64 known_until_;                      // one beyond the lossy part of the newest event
  std::array<Entry, kMost> entries_ = {};  // newest first
  std::size_t count_ = 0;
  std::array<Seq64, kMaxMarks> marks_ = {};  // oldest first
  std::size_t mark_count_ = 0;
  double first_interval_ = 0;  // where a mark was the first event
  std::array<double, kMost> lengths_ = {};
  std::size_t length_count_ = 0;
  tfrc::OpenInterval open_ = tfrc::OpenInterval::kMayCount;
};

}  // namespace dccp::ccid3
