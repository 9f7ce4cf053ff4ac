#include "ccid/ccid3/reported_intervals.h"

#include <algorithm>

namespace dccp::ccid3 {

// A field that is full tells only that an interval began at `latest` or before; then what was known
// holds, or each feedback would move it, and those before it.
Seq64 ReportedIntervals::KnownStart(Seq64 latest) const {
  for (const Entry& entry : std::span(entries_).first(count_)) {
    if (!entry.before_loss && entry.start <= latest) return entry.start;
  }
  return latest;
}

std::size_t ReportedIntervals::Parse(Seq64 acked, std::span<const LossIntervalsView> options,
                                     std::span<Entry> out, std::size_t* new_events) {
  std::size_t n = 0;
  Seq64 end = acked + 1;
  Seq64 known_until = known_until_;
  bool first_option = true;
  for (const LossIntervalsView& option : options) {
    // Only the first option may leave something out. RFC 4342 §8.6.1
    if (!first_option && option.skip != 0) continue;
    if (first_option) end = end - std::int64_t{option.skip};
    first_option = false;
    for (std::size_t i = 0; i < option.size() && n < out.size(); ++i) {
      const WireInterval wire = option[i];
      const std::int64_t length = std::int64_t{wire.lossless} + wire.loss;
      const bool before_loss = wire.loss == 0;
      // What reaches below our first number is the first interval, or nonsense.
      if (end <= first_ && !before_loss) return n;
      Seq64 start = std::min(std::max(end - length, first_), end);
      if (wire.lossless == kMax24 && !before_loss) start = KnownStart(start);
      const auto longest = static_cast<double>(end - start);
      const double data = wire.data;
      const auto lossy =
          static_cast<std::uint32_t>(std::min<std::int64_t>(std::int64_t{wire.loss}, end - start));
      // Without a Drop Count the whole lossy part counts as lost. RFC 5622 §8.7
      out[n++] = {.start = start,
                  .end = end,
                  .data = before_loss ? data : std::min(data, longest),
                  .before_loss = before_loss,
                  .loss_length = lossy,
                  .lost = lossy};
      if (before_loss) {
        known_until_ = known_until;
        return n;
      }
      if (start >= known_until_) ++*new_events;
      known_until = std::max(known_until, std::min(start + wire.loss, end));
      end = start;
    }
  }
  known_until_ = known_until;
  return n;
}

std::size_t ReportedIntervals::Update(Seq64 acked, std::span<const LossIntervalsView> options) {
  std::array<Entry, kMost> fresh;
  std::size_t new_events = 0;
  const std::size_t n = Parse(acked, options, fresh, &new_events);
  if (n == 0) return 0;
  count_ = Merge(fresh, n);
  entries_ = fresh;
  return new_events;
}

std::size_t ReportedIntervals::Update(Seq64 acked, std::span<const LossIntervalsView> options,
                                      std::span<const DroppedPacketsView> dropped,
                                      const WindowCounter& counters) {
  std::array<Entry, kMost> fresh;
  std::size_t new_events = 0;
  std::size_t n = Parse(acked, options, fresh, &new_events);
  if (n == 0) return 0;
  std::size_t at = 0;
  for (const DroppedPacketsView& view : dropped) {
    for (std::size_t i = 0; i < view.size() && at < n; ++i, ++at)
      fresh[at].lost = std::min(view[i], fresh[at].loss_length);
  }
  n = Merge(fresh, n);
  FindShort(std::span(fresh).first(n), acked, counters);
  entries_ = fresh;
  count_ = n;
  return new_events;
}

// Intervals that the receiver knows to have been received need not be repeated.
std::size_t ReportedIntervals::Merge(std::span<Entry> fresh, std::size_t n) const {
  const Entry oldest = fresh[n - 1];
  for (std::size_t i = 0; i < count_ && n < kMost && !oldest.before_loss; ++i) {
    Entry entry = entries_[i];
    if (entry.start >= oldest.start) continue;
    const Seq64 end = fresh[n - 1].start;
    // The one that was open has grown, or given up its end, since.
    if (!entry.before_loss)
      entry.data = std::max(entry.data + static_cast<double>(end - entry.end), 1.0);
    entry.end = end;
    fresh[n++] = entry;
  }
  return n;
}

// Which intervals last for two round trips at most. When one began is known while it is new; later
// the counters of its packets are forgotten.
void ReportedIntervals::FindShort(std::span<Entry> fresh, Seq64 acked,
                                  const WindowCounter& counters) {
  const auto began = [&](Seq64 start) {
    for (const Entry& entry : std::span(entries_).first(count_)) {
      if (!entry.before_loss && entry.start == start) return entry.counter;
    }
    return counters.Of(start);
  };
  open_ = tfrc::OpenInterval::kMayCount;
  std::uint64_t end = counters.Of(acked);
  for (std::size_t i = 0; i < fresh.size() && !fresh[i].before_loss; ++i) {
    Entry& entry = fresh[i];
    entry.counter = std::min(began(entry.start), end);
    const bool is_short = end - entry.counter <= tfrc::kShortIntervalCounters;
    entry.divisor = is_short ? std::max(entry.lost, 1u) : 1;
    if (i == 0 && is_short) open_ = tfrc::OpenInterval::kTooShort;
    end = entry.counter;
  }
}

bool ReportedIntervals::AddMark(Seq64 seq, const WindowCounter& counters, double first_interval) {
  const auto near = [&](Seq64 other) {
    const std::uint64_t a = counters.Of(seq);
    const std::uint64_t b = counters.Of(other);
    return std::max(a, b) - std::min(a, b) <= WindowCounter::kPerRtt;
  };
  for (const Entry& entry : std::span(entries_).first(count_)) {
    if (!entry.before_loss && near(entry.start)) return false;
  }
  for (const Seq64 mark : std::span(marks_).first(mark_count_)) {
    if (near(mark)) return false;
  }
  if (Lengths().size() < 2) first_interval_ = first_interval;
  if (mark_count_ == kMaxMarks) {
    std::move(marks_.begin() + 1, marks_.end(), marks_.begin());
    --mark_count_;
  }
  marks_[mark_count_++] = seq;
  std::sort(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(mark_count_));
  return true;
}

std::span<const double> ReportedIntervals::Lengths() {
  length_count_ = 0;
  std::size_t mark = mark_count_;
  for (const Entry& entry : std::span(entries_).first(count_)) {
    const double whole = std::max(static_cast<double>(entry.end - entry.start), 1.0);
    const double per_packet = entry.before_loss ? 1 : entry.data / whole;
    Seq64 end = entry.end;
    while (mark > 0 && marks_[mark - 1] >= entry.end) --mark;
    for (; mark > 0 && marks_[mark - 1] > entry.start; --mark) {
      Emit(static_cast<double>(end - marks_[mark - 1]) * per_packet);
      end = marks_[mark - 1];
    }
    if (entry.before_loss) {
      Emit(entry.data > 0 ? entry.data : first_interval_);
    } else {
      Emit(static_cast<double>(end - entry.start) * per_packet / entry.divisor);
    }
  }
  return std::span<const double>(lengths_).first(length_count_);
}

}  // namespace dccp::ccid3
