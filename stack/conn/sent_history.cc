#include "stack/conn/sent_history.h"

#include <algorithm>

#include "stack/base/check.h"

namespace dccp {

void SentHistory::OnSent(const SentPacket& packet) {
  if (ring_.empty()) {
    ring_.resize(kFirstCapacity);
    first_ = base_ = next_ = undecided_from_ = packet.seq;
    before_base_.since_ack = kNoAckBefore;
  }
  DCCP_CHECK(packet.seq == next_);
  MakeRoom();
  const bool limited = app_limited_until_ != 0;
  if (packet.data && in_flight_data_ == 0) first_sent_time_ = delivered_time_ = packet.time;
  if (packet.data) ++in_flight_data_;
  if (packet.app_limited) app_limited_until_ = delivered_packets_ + in_flight_data_ + 1;

  const Entry& before = Before(packet.seq);
  Entry entry = before;
  entry.time = packet.time;
  entry.first_sent = first_sent_time_;
  entry.delivered_time = delivered_time_;
  entry.delivered_bytes = delivered_bytes_;
  entry.delivered_packets = static_cast<std::uint32_t>(delivered_packets_);
  if (packet.data) {
    entry.sum_bytes += packet.payload_bytes;
    ++entry.sum_packets;
  }
  if (packet.carries_ack) {
    entry.since_ack = 0;
  } else if (entry.since_ack != kNoAckBefore) {
    ++entry.since_ack;
  }
  entry.sum_nonce = before.sum_nonce != packet.nonce;
  nonces_used_ |= packet.nonce;
  entry.app_limited = limited;
  At(packet.seq) = entry;
  if (runs() > 0 && runs_.back().state == State::kOutstanding) {
    ++runs_.back().length;
  } else {
    runs_.push_back({packet.seq, 1, State::kOutstanding});
  }
  ++next_;
}

void SentHistory::MakeRoom() {
  const auto span = static_cast<std::size_t>(next_ - base_);
  if (span < ring_.size()) return;
  // The history grows for data in flight, to twice as much so that late acknowledgements still find
  // their packets. Acknowledgements that nobody acknowledges do not count: they go.
  const auto undecided = static_cast<std::size_t>(next_ - undecided_from_);
  if (in_flight_data_ > 0 && undecided * 2 > ring_.size() && ring_.size() < kMaxPackets) {
    Grow();
  } else {
    EvictOldest();
  }
}

void SentHistory::Grow() {
  std::vector<Entry> larger(ring_.size() * 2);
  for (Seq64 seq = base_; seq < next_; ++seq) {
    larger[static_cast<std::size_t>(seq.value()) & (larger.size() - 1)] = At(seq);
  }
  ring_.swap(larger);
}

void SentHistory::EvictOldest() {
  const Run& oldest = runs_[first_run_];
  const Sums sums = SumsOf(base_, 1);
  if (oldest.state == State::kOutstanding && sums.data_packets > 0) {
    in_flight_data_ -= sums.data_packets;
    const TimePoint time = At(base_).time;
    FateRun* last = evicted_.empty() ? nullptr : &evicted_.back();
    if (last != nullptr && last->first + last->packets == base_) {
      ++last->packets;
      ++last->data_packets;
      last->data_bytes += sums.data_bytes;
      last->sent_last = time;
    } else {
      evicted_.push_back({base_, 1, 1, sums.data_bytes, time, time, Fate::kLost});
    }
  }
  ForgetBefore(base_ + 1);
}

void SentHistory::ForgetBefore(Seq64 seq) {
  if (seq <= base_) return;
  before_base_ = At(seq - 1);
  base_ = seq;
  undecided_from_ = std::max(undecided_from_, base_);
  TrimRuns();
}

void SentHistory::TrimRuns() {
  while (runs() > 0 && runs_[first_run_].end() <= base_) ++first_run_;
  if (runs() > 0 && runs_[first_run_].first < base_) {
    runs_[first_run_].length = runs_[first_run_].end() - base_;
    runs_[first_run_].first = base_;
  }
  if (first_run_ > 32 && first_run_ > runs_.size() / 2) {
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(first_run_));
    first_run_ = 0;
  }
}

Digest SentHistory::OnAck(const AckInfo& ack) {
  Digest digest;
  fates_.clear();
  newest_newly_acked_.reset();
  newest_acked_ack_.reset();
  newly_acked_ = 0;
  digest.in_flight_data_packets = in_flight_data_;
  if (ring_.empty() || ack.ackno >= next_ || ack.ackno < first_) {
    digest.invalid_ackno = true;
    return digest;
  }
  AckInfo valid = ack;
  if (ReachesBelowFirst(ack)) {
    digest.invalid_vector = true;
    valid.vectors = {};
  }
  if (nonces_used_) CheckNonces(valid, &digest);
  fates_.swap(evicted_);
  Apply(valid);
  if (newest_newly_acked_) delivered_time_ = ack.now;
  if (coverage_ == AckCoverage::kNumberOnly) {
    ForgetUnreported(ack.ackno);
  } else {
    InferLosses();
  }
  AdvanceUndecided();
  digest.newly_acked_packets = newly_acked_;
  digest.newest_acked_ack = newest_acked_ack_;
  if (newest_newly_acked_ == ack.ackno) {
    digest.age = ack.now - At(ack.ackno).time;
    // What claims to have waited for longer than we did is no measurement.
    const Duration rtt = *digest.age - ack.elapsed.value_or(Duration::zero());
    if (rtt >= Duration::zero()) digest.rtt = rtt;
  }
  if (coverage_ == AckCoverage::kAckVector) digest.rate = MakeRateSample(ack.now);
  SummariseFates(digest);
  if (runs() > kMaxRuns) ForgetBefore(runs_[runs_.size() - kMaxRuns].first);
  return digest;
}

void SentHistory::AbandonInFlight() {
  for (std::size_t i = runs_.size(); i > first_run_ && runs_[i - 1].end() > undecided_from_; --i) {
    if (runs_[i - 1].state == State::kOutstanding) runs_[i - 1].state = State::kAbandoned;
  }
  undecided_from_ = next_;
  in_flight_data_ = 0;
}

// What was sent before `ackno` leaves without a fate.
void SentHistory::ForgetUnreported(Seq64 ackno) {
  if (ackno <= base_) return;
  for (std::size_t i = first_run_; i < runs_.size() && runs_[i].first < ackno; ++i) {
    if (runs_[i].state != State::kOutstanding) continue;
    const Seq64 end = std::min(runs_[i].end(), ackno);
    in_flight_data_ -= SumsOf(runs_[i].first, end - runs_[i].first).data_packets;
  }
  ForgetBefore(ackno);
}

void SentHistory::AdvanceUndecided() {
  Seq64 oldest = next_;
  for (std::size_t i = runs_.size(); i > first_run_ && runs_[i - 1].end() > undecided_from_; --i) {
    ++steps_;
    if (runs_[i - 1].state == State::kOutstanding) oldest = runs_[i - 1].first;
  }
  undecided_from_ = oldest;
}

RateSample SentHistory::MakeRateSample(TimePoint now) {
  RateSample sample;
  if (!newest_newly_acked_) return sample;
  const Entry& entry = At(*newest_newly_acked_);
  const auto packets = static_cast<std::uint32_t>(delivered_packets_) - entry.delivered_packets;
  if (packets > 0) {
    sample.delivered_packets = packets;
    sample.delivered_bytes = delivered_bytes_ - entry.delivered_bytes;
    sample.interval = std::max(entry.time - entry.first_sent, now - entry.delivered_time);
    sample.app_limited = entry.app_limited;
    first_sent_time_ = entry.time;
  }
  if (delivered_packets_ >= app_limited_until_) app_limited_until_ = 0;
  return sample;
}

// Puts the fates in order, joins neighbours of one fate and sums them up.
void SentHistory::SummariseFates(Digest& digest) {
  std::sort(fates_.begin(), fates_.end(),
            [](const FateRun& a, const FateRun& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const FateRun& run : fates_) {
    switch (run.fate) {
      case Fate::kReceived:
        digest.received_data_packets += run.data_packets;
        digest.received_data_bytes += run.data_bytes;
        break;
      case Fate::kMarked:
        digest.marked_data_packets += run.data_packets;
        break;
      case Fate::kLost:
        digest.lost_data_packets += run.data_packets;
        break;
      case Fate::kLate:
        break;
    }
    FateRun* last = kept > 0 ? &fates_[kept - 1] : nullptr;
    if (last != nullptr && last->fate == run.fate && last->first + last->packets == run.first) {
      last->packets += run.packets;
      last->data_packets += run.data_packets;
      last->data_bytes += run.data_bytes;
      last->sent_last = run.sent_last;
    } else {
      fates_[kept++] = run;
    }
  }
  digest.runs = std::span(fates_).first(kept);
  digest.in_flight_data_packets = in_flight_data_;
}

std::optional<Seq64> SentHistory::greatest_sent() const {
  if (ring_.empty()) return std::nullopt;
  return next_ - 1;
}

std::optional<TimePoint> SentHistory::SentTime(Seq64 seq) const {
  if (ring_.empty() || seq < base_ || seq >= next_) return std::nullopt;
  return At(seq).time;
}

bool SentHistory::MayHaveArrived(Seq64 seq) const {
  if (coverage_ == AckCoverage::kAckVector) return IsAcked(seq);
  return !ring_.empty() && seq >= first_ && seq < next_;
}

bool SentHistory::IsAcked(Seq64 seq) const {
  if (ring_.empty() || seq < base_ || seq >= next_) return false;
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(first_run_);
  const auto run =
      std::upper_bound(begin, runs_.end(), seq, [](Seq64 s, const Run& r) { return s < r.first; }) -
      1;
  return run->state == State::kReceived || run->state == State::kMarked;
}

}  // namespace dccp
