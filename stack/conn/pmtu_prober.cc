#include "stack/conn/pmtu_prober.h"

#include <algorithm>
#include <utility>

namespace dccp {
namespace {

constexpr std::uint32_t kBaseV4 = 1200;   // RFC 8899 §5.1.2
constexpr std::uint32_t kFloorV4 = 576;   // what every host must be able to take. RFC 1122 §3.3.2
constexpr std::uint32_t kFloorV6 = 1280;  // RFC 8200 §5
constexpr std::uint32_t kEthernet = 1500;

// Deviation: RFC 8899 §5.1.1 would have a probe waited for 15 seconds. A Sync is answered at once
// (RFC 4340 §8.4), so some round trips tell, and never less than the second that it demands.
constexpr Duration kLeastProbeTimeout = std::chrono::seconds(1);
constexpr Duration kPostponement = std::chrono::milliseconds(250);
// What a user may ask for: one discovery in two seconds. RFC 4340 §14.1
constexpr Duration kQuiet = std::chrono::seconds(2);
constexpr Duration kFirstRetry = std::chrono::seconds(5);
constexpr Duration kLastRetry = std::chrono::minutes(1);

// Three witnesses lost, or two timeouts in which nothing came back at all.
constexpr std::uint32_t kDoubtScore = 3;
constexpr std::uint32_t kLossWeight = 1;
constexpr std::uint32_t kTimeoutWeight = 2;
// Acknowledgements that tell of few packets (CCID 3) never tell of most witnesses: such a one is
// given up for another after a while. Where they tell of no packet as large either, the size is
// confirmed by a probe now and then.
constexpr Duration kWitnessPatience = std::chrono::seconds(10);
constexpr Duration kConfirmInterval = std::chrono::seconds(30);

// A data packet of at least `payload_bytes` is among those of the run.
bool CarriesAsMuch(const FateRun& run, std::uint32_t payload_bytes) {
  return run.data_packets > 0 && run.data_bytes >= std::uint64_t{payload_bytes} * run.data_packets;
}

bool Contains(const FateRun& run, Seq64 seq) {
  return seq >= run.first && seq - run.first < std::int64_t{run.packets};
}

}  // namespace

PmtuProber::PmtuProber(IpFamily family, std::uint32_t interface_mtu)
    : family_(family),
      ceiling_(interface_mtu),
      mtu_(interface_mtu),
      too_big_(interface_mtu + 1),
      retry_(kFirstRetry, kLastRetry),
      witness_least_(Floor() + 1) {}

std::uint32_t PmtuProber::Floor() const { return family_ == IpFamily::kV4 ? kFloorV4 : kFloorV6; }

std::uint32_t PmtuProber::BaseMtu() const { return family_ == IpFamily::kV4 ? kBaseV4 : kFloorV6; }

std::uint32_t PmtuProber::RungBelow(std::uint32_t mtu) const {
  if (mtu > BaseMtu()) return BaseMtu();
  return mtu > Floor() ? Floor() : 0;
}

void PmtuProber::SetEnabled(bool enabled, TimePoint now) {
  if (enabled == (state_ != State::kDisabled)) return;
  ForgetWitnesses();
  Complete(now);
  quiet_until_ = TimePoint::min();
  if (!enabled) state_ = State::kDisabled;
}

void PmtuProber::Restart(std::uint32_t interface_mtu, bool confirm, TimePoint now) {
  ceiling_ = mtu_ = interface_mtu;
  raise_at_ = kNever;
  waits_for_data_ = false;
  quiet_until_ = TimePoint::min();
  retry_.Reset();
  candidate_ = 0;
  probe_.reset();
  ForgetWitnesses();
  if (state_ == State::kDisabled) return;
  state_ = State::kSearchComplete;
  if (confirm && mtu_ > Floor()) Doubt(now);
}

void PmtuProber::OnLowered(std::uint32_t mtu, TimePoint now) {
  mtu_ = mtu;
  ForgetWitnesses();
  if (state_ == State::kDisabled) return;
  raise_at_ = kNever;
  Complete(now);
}

void PmtuProber::OnTooBig(Seq64 seq, std::uint32_t next_hop_mtu, TimePoint now) {
  if (!probe_ || *probe_ != seq) return;
  probe_.reset();
  if (state_ == State::kSearching && next_hop_mtu >= mtu_ && next_hop_mtu < candidate_) {
    too_big_ = next_hop_mtu + 1;
    hint_ = next_hop_mtu;
    Search(now);
  } else {
    OnSizeFailed(now);
  }
}

void PmtuProber::Suspect(TimePoint now) {
  const bool settled = state_ == State::kSearchComplete || state_ == State::kSearching;
  if (settled && now >= quiet_until_ && mtu_ > Floor()) Doubt(now);
}

// Does the size in use still get through, and if not, which one does?
void PmtuProber::Doubt(TimePoint now) {
  state_ = State::kBase;
  proven_ = 0;
  witness_clears_ = score_ > 0;
  score_ = 0;
  Try(mtu_, now);
}

void PmtuProber::Try(std::uint32_t bytes, TimePoint at) {
  candidate_ = bytes;
  tries_ = 0;
  probe_.reset();
  deadline_ = at;
}

// The next size between what gets through and what does not. The interface's MTU first, then that
// of Ethernet, which is what most paths have somewhere; then by halves.
void PmtuProber::Search(TimePoint now) {
  state_ = State::kSearching;
  if (NextStep() >= too_big_ && hint_ <= mtu_) {
    raise_at_ = kNever;
    Complete(now);
    return;
  }
  std::uint32_t next = 0;
  if (hint_ > mtu_ && hint_ < too_big_) {
    next = hint_;
  } else if (too_big_ > ceiling_) {
    next = ceiling_;
  } else if (mtu_ < kEthernet && kEthernet < too_big_) {
    next = kEthernet;
  } else {
    next = std::max(NextStep(), (mtu_ + too_big_) / 2 / kStepBytes * kStepBytes);
  }
  hint_ = 0;
  Try(next, now);
}

void PmtuProber::Complete(TimePoint now) {
  state_ = State::kSearchComplete;
  candidate_ = 0;
  probe_.reset();
  hint_ = 0;
  data_sent_ = false;
  proven_ = 0;
  retry_.Reset();
  quiet_until_ = now + kQuiet;
  if (mtu_ >= ceiling_) {
    raise_at_ = kNever;
  } else if (raise_at_ == kNever) {
    raise_at_ = now + kRaiseInterval;
  }
}

// A step up shows whether anything has changed; where it has, the whole range is searched.
void PmtuProber::StartRaise(TimePoint now) {
  raise_at_ = kNever;
  state_ = State::kSearching;
  too_big_ = ceiling_ + 1;
  Try(std::min(NextStep(), ceiling_), now);
}

void PmtuProber::OnProbeArrived(TimePoint now) {
  probe_.reset();
  if (state_ == State::kSearching) {
    ForgetWitnesses();
    mtu_ = candidate_;
    Search(now);
  } else if (candidate_ == mtu_) {
    ForgetWitnesses();
    Complete(now);
  } else {
    // The path is alive. If it was down before, the size in use gets through again: once more.
    proven_ = candidate_;
    Try(mtu_, now);
    tries_ = kMaxProbes - 1;
  }
}

void PmtuProber::OnProbeLost(TimePoint now) {
  probe_.reset();
  if (++tries_ < kMaxProbes) {
    deadline_ = now;
  } else {
    OnSizeFailed(now);
  }
}

void PmtuProber::OnSizeFailed(TimePoint now) {
  too_big_ = candidate_;
  if (proven_ != 0) {
    ++black_holes_;
    mtu_ = std::exchange(proven_, 0);
    ForgetWitnesses();
    state_ = State::kSearching;
  }
  if (state_ == State::kSearching) {
    Search(now);
    return;
  }
  const std::uint32_t smaller = RungBelow(candidate_);
  if (smaller != 0) {
    if (smaller < BaseMtu()) state_ = State::kError;
    Try(smaller, now);
    return;
  }
  // Nothing gets through, so size is not what is wrong.
  state_ = State::kError;
  data_sent_ = false;
  Try(mtu_, now + retry_.Next());
}

void PmtuProber::OnDataSent(Seq64 seq, std::uint32_t ip_bytes, std::uint32_t payload_bytes,
                            TimePoint now) {
  if (state_ == State::kDisabled) return;
  data_sent_ = true;
  if (waits_for_data_) {
    waits_for_data_ = false;
    (candidate_ == 0 ? raise_at_ : deadline_) = now;
  }
  if (ip_bytes < witness_least_) return;
  if (!unconfirmed_since_) unconfirmed_since_ = now;
  if (witness_ && now - witness_->sent < kWitnessPatience) return;
  witness_ = Witness{seq, ip_bytes, payload_bytes, now};
  if (now - *unconfirmed_since_ >= kConfirmInterval) Suspect(now);
}

void PmtuProber::OnFates(std::span<const FateRun> runs, TimePoint now) {
  for (const FateRun& run : runs) {
    if (!probe_ && !witness_) return;
    const bool lost = run.fate == Fate::kLost;
    if (witness_ && Contains(run, witness_->seq)) {
      lost ? OnWitnessLost(kLossWeight, now) : OnWitnessArrived(now);
    } else if (witness_ && !lost && run.first > witness_->seq &&
               CarriesAsMuch(run, witness_->payload_bytes)) {
      // One of its kind, sent later: no probe need ask what data shows. Its options may be fewer
      // by some bytes, so it does not speak for a witness that was lost.
      unconfirmed_since_ = now;
    }
    if (probe_ && Contains(run, *probe_)) lost ? OnProbeLost(now) : OnProbeArrived(now);
  }
}

void PmtuProber::OnSyncAck(Seq64 acked, TimePoint now) {
  if (probe_ && *probe_ == acked) OnProbeArrived(now);
}

void PmtuProber::OnTimeout(TimePoint now) {
  if (witness_) OnWitnessLost(kTimeoutWeight, now);
}

void PmtuProber::OnWitnessArrived(TimePoint now) {
  ForgetWitnesses();
  // Packets as large as those that were missed get through after all.
  const bool doubted = state_ == State::kBase || state_ == State::kError;
  if (doubted && witness_clears_) Complete(now);
}

// From now on only packets of that size count: smaller ones that arrive would prove nothing.
void PmtuProber::OnWitnessLost(std::uint32_t weight, TimePoint now) {
  witness_least_ = witness_->bytes;
  witness_.reset();
  score_ += weight;
  if (score_ >= kDoubtScore) Suspect(now);
}

void PmtuProber::ForgetWitnesses() {
  witness_.reset();
  witness_least_ = Floor() + 1;
  score_ = 0;
  unconfirmed_since_.reset();
}

// What is not urgent waits until there is data that may gain by it. RFC 8899 §5.1.1
bool PmtuProber::HasData() {
  if (data_sent_) return true;
  waits_for_data_ = true;
  raise_at_ = deadline_ = kNever;
  return false;
}

std::optional<std::uint32_t> PmtuProber::Due(TimePoint now) {
  if (state_ == State::kDisabled || now < NextTimeout()) return std::nullopt;
  if (candidate_ == 0) {
    if (!HasData()) return std::nullopt;
    StartRaise(now);
  } else if (probe_) {
    OnProbeLost(now);
  } else if (state_ == State::kError && candidate_ == mtu_ && !HasData()) {
    return std::nullopt;
  }
  if (candidate_ == 0 || probe_ || now < deadline_) return std::nullopt;
  return candidate_;
}

void PmtuProber::OnProbeSent(Seq64 seq, TimePoint now, Duration rtt) {
  probe_ = seq;
  deadline_ = now + std::max(kLeastProbeTimeout, 4 * rtt);
}

void PmtuProber::Postpone(TimePoint now) { deadline_ = now + kPostponement; }

TimePoint PmtuProber::NextTimeout() const {
  if (state_ == State::kDisabled) return kNever;
  return candidate_ != 0 ? deadline_ : raise_at_;
}

}  // namespace dccp
