#include "ccid/tfrc/loss_history.h"

#include <algorithm>

namespace dccp::tfrc {
namespace {

// Losses whose window counters are further apart are two events: four quarters are a round trip.
constexpr std::uint64_t kCountersPerEvent = 4;
// Of the events that one long gap makes more than the history holds need not be told apart.
constexpr std::int64_t kMaxEventsOfGap = 16;

}  // namespace

LossHistory::Outcome LossHistory::OnArrival(const ArrivedPacket& packet, const EventRule& rule) {
  Outcome outcome;
  if (packet.seq < window_.next()) {
    Late(packet, &outcome);
    return outcome;
  }
  const bool none_before = event_count_ == 0;
  window_.Insert(packet);
  while (window_.ready()) {
    if (window_.front().seq > window_.next()) Gap(window_.front(), rule, &outcome);
    Settle(window_.Take(), rule, &outcome);
  }
  outcome.first_event = none_before && event_count_ > 0;
  return outcome;
}

// Everything from window_.next() up to `after` is missing.
void LossHistory::Gap(const ArrivedPacket& after, const EventRule& rule, Outcome* outcome) {
  const Seq64 first = window_.next();
  const std::int64_t missing = after.seq - first;
  // The packets just before `after` of which its NDP Count tells were no data. RFC 4340 §7.7.1
  const std::int64_t non_data = static_cast<std::int64_t>(
      std::min<std::uint64_t>(after.ndp, static_cast<std::uint64_t>(missing)));
  const std::int64_t lost = missing - non_data;
  if (lost > 0) {
    const TimePoint before = any_ ? time_ : after.time;
    const Duration step = (after.time - before) / (missing + 1);
    std::int64_t done = 0;
    if (rule.rtt && step > Duration::zero()) {
      // The gap may last for more than a round trip, and then makes several events. RFC 5348 §5.2
      const std::int64_t per_event = std::max<std::int64_t>(*rule.rtt / step + 1, 1);
      if (lost / per_event > kMaxEventsOfGap) {
        done = lost - kMaxEventsOfGap * per_event;
        AddLoss(first, done, before + step, rule, outcome);
      }
      while (done < lost) {
        const TimePoint time = before + (done + 1) * step;
        // What still belongs to the last event goes there, the rest by whole events.
        std::int64_t length = per_event;
        if (SameEvent(time, rule)) length = (events_[0].time + *rule.rtt - time) / step + 1;
        length = std::clamp<std::int64_t>(length, 1, lost - done);
        AddLoss(first + done, length, time, rule, outcome);
        done += length;
      }
    } else {
      AddLoss(first, lost, before + step, rule, outcome);
    }
  }
  non_data_ += static_cast<std::uint64_t>(non_data);
}

// The next packet in order.
void LossHistory::Settle(const ArrivedPacket& packet, const EventRule& rule, Outcome* outcome) {
  if (!packet.data) {
    ++non_data_;
  } else {
    if (packet.marked) {
      AddLoss(packet.seq, 1, packet.time, rule, outcome);
    } else if (packet.nonce) {
      nonce_ = !nonce_;
    }
    // Adjacent values are at most five apart; packets come here in the order they were sent.
    counter_ += (std::uint64_t{packet.ccval} - counter_) & 15u;
    any_data_ = true;
  }
  time_ = std::max(time_, packet.time);
  any_ = true;
}

void LossHistory::AddLoss(Seq64 seq, std::int64_t length, TimePoint time, const EventRule& rule,
                          Outcome* outcome) {
  if (!SameEvent(time, rule)) StartEvent(seq, time, outcome);
  Event& event = events_[0];
  event.last = seq + (length - 1);
  event.losses += static_cast<std::uint32_t>(length);
  event.nonce_after = nonce_;
  if (seq >= window_.next()) RememberHole(seq, length);
}

bool LossHistory::SameEvent(TimePoint time, const EventRule& rule) const {
  if (event_count_ == 0) return false;
  if (rule.rtt) return time - events_[0].time <= *rule.rtt;
  return counter_ - events_[0].counter <= kCountersPerEvent;
}

void LossHistory::StartEvent(Seq64 seq, TimePoint time, Outcome* outcome) {
  if (event_count_ == 0) first_data_lost_ = !any_data_;
  if (event_count_ == kMaxEvents) oldest_known_ = false;
  event_count_ = std::min(event_count_ + 1, kMaxEvents);
  std::move_backward(events_.begin(),
                     events_.begin() + static_cast<std::ptrdiff_t>(event_count_) - 1,
                     events_.begin() + static_cast<std::ptrdiff_t>(event_count_));
  events_[0] = {.start = seq,
                .last = seq,
                .counter = counter_,
                .time = time,
                .non_data = non_data_,
                .losses = 0,
                .nonce_before = nonce_,
                .nonce_after = nonce_};
  ++outcome->new_events;
}

void LossHistory::RememberHole(Seq64 first, std::int64_t length) {
  holes_[next_hole_ % kMaxHoles] = {first, length};
  ++next_hole_;
}

// A packet that had been given up. RFC 5348 §5.1
void LossHistory::Late(const ArrivedPacket& packet, Outcome* outcome) {
  if (!FillHole(packet.seq)) return;
  if (!packet.data) ++non_data_;
  for (std::size_t i = 0; i < event_count_; ++i) {
    Event& event = events_[i];
    if (!packet.data && event.start > packet.seq) ++event.non_data;
    if (packet.seq < event.start || packet.seq > event.last) continue;
    if (packet.data && packet.marked) return;  // congestion all the same
    --event.losses;
    if (event.losses == 0) {
      Remove(i);
      outcome->removed_event = true;
    } else {
      Shrink(event);
    }
    return;
  }
}

bool LossHistory::FillHole(Seq64 seq) {
  for (Hole& hole : holes_) {
    const std::int64_t at = seq - hole.first;
    if (at < 0 || at >= hole.length) continue;
    const std::int64_t rest = hole.length - at - 1;
    hole.length = at;
    if (rest > 0) RememberHole(seq + 1, rest);
    return true;
  }
  return false;
}

// The lossy part begins and ends with a lost packet. Where the holes are no longer remembered it
// stays as it is.
void LossHistory::Shrink(Event& event) {
  std::optional<Seq64> first;
  std::optional<Seq64> last;
  std::int64_t known = 0;
  for (const Hole& hole : holes_) {
    if (hole.length == 0 || hole.first < event.start || hole.first > event.last) continue;
    known += hole.length;
    first = std::min(first.value_or(hole.first), hole.first);
    const Seq64 end = hole.first + (hole.length - 1);
    last = std::max(last.value_or(end), end);
  }
  if (known != event.losses) return;
  event.start = *first;
  event.last = *last;
}

void LossHistory::Remove(std::size_t index) {
  std::move(events_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
            events_.begin() + static_cast<std::ptrdiff_t>(event_count_),
            events_.begin() + static_cast<std::ptrdiff_t>(index));
  --event_count_;
}

std::size_t LossHistory::Intervals(std::span<LossInterval> out) const {
  std::size_t n = 0;
  Seq64 end = window_.next();
  std::uint64_t non_data_end = non_data_;
  bool nonce_end = nonce_;
  std::uint64_t counter_end = counter_;
  for (; n < event_count_ && n < out.size(); ++n) {
    const Event& event = events_[n];
    LossInterval& interval = out[n];
    interval.lossless = static_cast<std::uint64_t>(end - event.last - 1);
    interval.lossy = static_cast<std::uint64_t>(event.last - event.start + 1);
    const std::uint64_t length = interval.lossless + interval.lossy;
    const std::uint64_t non_data = std::min(non_data_end - event.non_data, length);
    interval.data = std::max(static_cast<double>(length - non_data), 1.0);
    interval.nonce_echo = interval.lossless > 0 && nonce_end != event.nonce_after;
    interval.lost = event.losses;
    interval.counters = counter_end - std::min(event.counter, counter_end);
    end = event.start;
    non_data_end = event.non_data;
    nonce_end = event.nonce_before;
    counter_end = event.counter;
  }
  if (n < out.size() && n == event_count_ && (oldest_known_ || n == 0)) {
    out[n++] = {.lossless = static_cast<std::uint64_t>(end - first_),
                .lossy = 0,
                .data = event_count_ == 0 ? 0 : first_interval_,
                .nonce_echo = nonce_end,
                .lost = 0,
                .counters = counter_end};
  }
  return n;
}

}  // namespace dccp::tfrc
