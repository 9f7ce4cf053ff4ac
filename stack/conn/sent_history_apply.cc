// How an acknowledgement changes the states of SentHistory. RFC 4340 §11.4.1, RFC 4341 §5
#include <algorithm>

#include "stack/conn/sent_history.h"
#include "stack/wire/ack_vector_codec.h"

namespace dccp {

SentHistory::Sums SentHistory::SumsOf(Seq64 first, std::int64_t length) const {
  const Entry& before = Before(first);
  const Entry& last = At(first + (length - 1));
  return {last.sum_packets - before.sum_packets, last.sum_bytes - before.sum_bytes};
}

bool SentHistory::ReachesBelowFirst(const AckInfo& ack) const {
  std::int64_t packets = 0;
  for (const AckVectorOption& option : ack.vectors) packets += AckVectorPackets(option.cells);
  return ack.ackno - packets + 1 < first_;
}

// Works from the newest report down: runs above it are taken off runs_, changed on the way, and put
// back at the end. What lies below the oldest report is never touched.
void SentHistory::Apply(const AckInfo& ack) {
  Seq64 last = ack.ackno;
  bool first_report = true;
  for (const AckVectorOption& option : ack.vectors) {
    AckVectorReader reader(option.cells);
    for (AckVectorRun run; last >= base_ && reader.Next(&run); last = last - run.packets) {
      ++steps_;
      const bool arrived = run.state == AckState::kReceived || run.state == AckState::kMarked;
      // The packet of the Acknowledgement Number has arrived, whatever the vector says.
      if (first_report && !arrived) ApplyReport(last, last, State::kReceived);
      first_report = false;
      if (!arrived) continue;
      const State state = run.state == AckState::kMarked ? State::kMarked : State::kReceived;
      ApplyReport(std::max(base_, last - (std::int64_t{run.packets} - 1)), last, state);
    }
  }
  if (first_report && last >= base_) ApplyReport(last, last, State::kReceived);
  PutBack();
}

void SentHistory::ApplyReport(Seq64 first, Seq64 last, State reported) {
  TakeOff(last);
  while (runs() > 0 && runs_.back().end() > first) {
    ++steps_;
    const Run run = runs_.back();
    const Seq64 from = std::max(run.first, first);
    if (run.first < from) {
      runs_.back().length = from - run.first;
    } else {
      runs_.pop_back();
    }
    const std::int64_t length = run.end() - from;
    PutAside({from, length, Decide(from, length, run.state, reported)});
  }
}

// Takes the runs above `above` off runs_, splitting the one across it.
void SentHistory::TakeOff(Seq64 above) {
  while (runs() > 0 && runs_.back().end() > above + 1) {
    ++steps_;
    Run& run = runs_.back();
    if (run.first > above) {
      PutAside(run);
      runs_.pop_back();
    } else {
      PutAside({above + 1, run.end() - (above + 1), run.state});
      run.length = above + 1 - run.first;
    }
  }
}

void SentHistory::PutAside(const Run& run) {
  if (!aside_.empty() && aside_.back().state == run.state) {
    aside_.back().first = run.first;
    aside_.back().length += run.length;
  } else {
    aside_.push_back(run);
  }
}

void SentHistory::PutBack() {
  for (; !aside_.empty(); aside_.pop_back()) {
    if (runs() > 0 && runs_.back().state == aside_.back().state) {
      runs_.back().length += aside_.back().length;
    } else {
      runs_.push_back(aside_.back());
    }
  }
}

// The merge of RFC 4340 §11.4.1: marked stays marked, received never goes back to unknown.
SentHistory::State SentHistory::Decide(Seq64 first, std::int64_t length, State from, State to) {
  if (from == State::kMarked || from == to) return from;
  if (from == State::kReceived) return to;
  const Sums sums = SumsOf(first, length);
  if (from == State::kOutstanding) {
    in_flight_data_ -= sums.data_packets;
    Emit(first, length, to == State::kMarked ? Fate::kMarked : Fate::kReceived, sums);
  } else {
    Emit(first, length, Fate::kLate, sums);
  }
  NoteArrival(first, length, sums);
  return to;
}

void SentHistory::Emit(Seq64 first, std::int64_t length, Fate fate, const Sums& sums) {
  const auto packets = static_cast<std::uint32_t>(length);
  fates_.push_back({first, packets, sums.data_packets, sums.data_bytes, At(first).time,
                    At(first + (length - 1)).time, fate});
}

void SentHistory::NoteArrival(Seq64 first, std::int64_t length, const Sums& sums) {
  const Seq64 last = first + (length - 1);
  newly_acked_ += static_cast<std::uint64_t>(length);
  newest_newly_acked_ = std::max(newest_newly_acked_.value_or(last), last);
  greatest_acked_ = std::max(greatest_acked_.value_or(last), last);
  const std::uint32_t since_ack = At(last).since_ack;
  if (since_ack < length) {
    const Seq64 ack = last - since_ack;
    newest_acked_ack_ = std::max(newest_acked_ack_.value_or(ack), ack);
  }
  delivered_packets_ += sums.data_packets;
  delivered_bytes_ += sums.data_bytes;
}

// Outstanding packets below the third-greatest acknowledged number are lost. RFC 4341 §5
void SentHistory::InferLosses() {
  std::int64_t acked = 0;
  std::size_t i = runs_.size();
  for (; i > first_run_ && acked < kNumDupAck; --i) {
    ++steps_;
    const Run& run = runs_[i - 1];
    if (run.end() <= undecided_from_) return;
    if (run.state == State::kReceived || run.state == State::kMarked) acked += run.length;
  }
  if (acked < kNumDupAck) return;
  for (; i > first_run_ && runs_[i - 1].end() > undecided_from_; --i) {
    ++steps_;
    Run& run = runs_[i - 1];
    if (run.state != State::kOutstanding) continue;
    const Sums sums = SumsOf(run.first, run.length);
    in_flight_data_ -= sums.data_packets;
    Emit(run.first, run.length, Fate::kLost, sums);
    run.state = State::kLost;
  }
}

// Each option has a Nonce Echo of its own. One that reports a packet which is forgotten cannot be
// checked, and no older one can. RFC 4340 §12.2
void SentHistory::CheckNonces(const AckInfo& ack, Digest* digest) const {
  Seq64 last = ack.ackno;
  for (const AckVectorOption& option : ack.vectors) {
    bool expected = false;
    AckVectorReader reader(option.cells);
    for (AckVectorRun run; reader.Next(&run); last = last - run.packets) {
      if (run.state != AckState::kReceived) continue;
      const Seq64 first = last - (std::int64_t{run.packets} - 1);
      if (first < base_) return;
      expected ^= At(last).sum_nonce != Before(first).sum_nonce;
    }
    if (expected != option.nonce_echo) {
      digest->nonce = NonceVerdict::kMismatch;
      return;
    }
    digest->nonce = NonceVerdict::kMatch;
    if (expected) ++digest->right_ones;
  }
}

}  // namespace dccp
