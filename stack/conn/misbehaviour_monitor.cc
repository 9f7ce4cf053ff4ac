#include "stack/conn/misbehaviour_monitor.h"

#include <algorithm>

namespace dccp {

NonceVerdict MisbehaviourMonitor::OnNonce(NonceVerdict verdict, std::uint32_t right_ones,
                                          Seq64 acked, Seq64 greatest_sent) {
  const bool proven = proof_ >= kProof;
  if (verdict != NonceVerdict::kMismatch) {
    proof_ = std::min(proof_ + right_ones, kProof);
    return proven ? verdict : NonceVerdict::kUnknown;
  }
  ++mismatches_;
  suspicious_ = true;
  if (nonce_rounds_.Begin(acked, greatest_sent)) {
    ++mismatch_rounds_;
    if (mismatch_rounds_ >= (proven ? kMismatchRounds : kUnprovenRounds)) without_ect_ = true;
  }
  return proven ? NonceVerdict::kMismatch : NonceVerdict::kUnknown;
}

void MisbehaviourMonitor::OnElapsed(Duration elapsed, Duration age, Seq64 acked,
                                    Seq64 greatest_sent) {
  if (elapsed <= age) {
    elapsed_rounds_ = 0;
    return;
  }
  ++elapsed_too_large_;
  if (elapsed > age + kElapsedSlack && elapsed_round_.Begin(acked, greatest_sent))
    ++elapsed_rounds_;
}

bool MisbehaviourMonitor::VerifyDue(TimePoint now, Duration rtt) const {
  return suspicious_ && (!withheld_at_ || now - *withheld_at_ >= kVerifyRtts * rtt);
}

void MisbehaviourMonitor::OnWithheld(Seq64 seq, TimePoint now) {
  withheld_ = seq;
  withheld_at_ = now;
}

void MisbehaviourMonitor::OnLie() {
  ++lies_;
  withheld_.reset();
}

}  // namespace dccp
