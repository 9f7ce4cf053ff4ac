// Whether the peer acknowledges what is true, and often enough.

#include "stack/conn/connection_impl.h"

namespace dccp {

// An acknowledgement of ours was digested: is it to be believed? Returns what to tell the CCID; may
// end the connection. §12.3
NonceVerdict Connection::Impl::JudgePeer(const Digest& digest, std::optional<Duration> elapsed,
                                         const Arrived& in) {
  const Seq64 greatest_sent = seq_.gss();
  NonceVerdict verdict = NonceVerdict::kUnknown;
  if (options_.ecn_nonce)
    verdict = conduct_.OnNonce(digest.nonce, digest.right_ones, *in.ack, greatest_sent);
  if (elapsed && digest.age) conduct_.OnElapsed(*elapsed, *digest.age, *in.ack, greatest_sent);
  if (conduct_.withheld() && history_.IsAcked(*conduct_.withheld())) {
    conduct_.OnLie();
    verdict = NonceVerdict::kMismatch;
  }
  // What the peer got wrong it repeats until its report is acknowledged: the sooner the better.
  if (digest.nonce == NonceVerdict::kMismatch && options_.ecn_nonce) want_ack_ = true;
  if (conduct_.suspicious()) nonces_.Harden();
  if (conduct_.without_ect()) ecn_out_ = false;
  if (conduct_.penalty()) Fail(ClosedBy::kProtocol, {ResetCode::kAggressionPenalty, {}}, in.now);
  return verdict;
}

// Uses up a number without a packet, if the peer is to be verified. That is as if the packet had
// been dropped right here, and the CCID hears of a non-data packet lost. Only an Ack Vector tells
// of that packet, and only where the sender judges losses is it harmless.
void Connection::Impl::WithholdNumber(TimePoint now) {
  if (state_ != State::kOpen || !conduct_.VerifyDue(now, RttOr(rtt_)) ||
      features_.value(FeatureNumber::kSendAckVector, Located::kRemote) == 0)
    return;
  const Seq64 seq = seq_.TakeNext();
  SentPacket nothing;
  nothing.seq = seq;
  nothing.time = now;
  nothing.type = PacketType::kAck;
  history_.OnSent(nothing);
  ndp_.OnSent(nothing.type);
  conduct_.OnWithheld(seq, now);
}

void Connection::Impl::ElicitAckOfAck(TimePoint now) {
  if (state_ == State::kOpen && elicitor_.Due(acks_.VectorBytes(), now, RttOr(rtt_)))
    MaybeSync(seq_.gsr(), now);
}

}  // namespace dccp
