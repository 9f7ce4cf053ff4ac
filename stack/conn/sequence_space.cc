#include "stack/conn/sequence_space.h"

#include <algorithm>

#include "stack/wire/short_seqno.h"

namespace dccp {

void SequenceSpace::SetIss(SeqNo iss) {
  iss_ = Seq64::FromInitial(iss);
  gss_ = iss_ - 1;
  gar_ = iss_;
}

void SequenceSpace::SetIsr(SeqNo isr) {
  isr_ = Seq64::FromInitial(isr);
  gsr_ = isr_;
  has_isr_ = true;
}

Seq64 SequenceSpace::UnwrapSeq(SeqNo seq, bool extended) const {
  if (!has_isr_) return Seq64::FromInitial(seq);
  const SeqNo full = extended ? seq : ExtendSequenceNumber(seq.low24(), gsr_.Wrap());
  return Seq64::Unwrap(full, gsr_);
}

Seq64 SequenceSpace::UnwrapAck(SeqNo ack, bool extended) const {
  const SeqNo full = extended ? ack : ExtendSequenceNumber(ack.low24(), gss_.Wrap());
  return Seq64::Unwrap(full, gss_);
}

Seq64 SequenceSpace::swl() const {
  const auto below = static_cast<std::int64_t>(remote_window_ / 4);
  return std::max(gsr_ + 1 - below, isr_);
}

Seq64 SequenceSpace::swh() const {
  return gsr_ + static_cast<std::int64_t>((3 * remote_window_ + 3) / 4);
}

Seq64 SequenceSpace::awl() const {
  return std::max(gss_ + 1 - static_cast<std::int64_t>(local_window_), iss_);
}

SequenceSpace::Verdict SequenceSpace::Check(PacketType type, Seq64 seq, std::optional<Seq64> ack,
                                            bool active) const {
  // Step 5. A Sync from beyond SWH is how a peer recovers from a long burst of losses; on an active
  // connection it is more likely forged. §7.5.3
  if (type == PacketType::kSync || type == PacketType::kSyncAck) {
    const bool valid = ack && AckInWindow(*ack) && seq >= swl() && (!active || seq <= swh());
    return valid ? Verdict::kAccept : Verdict::kDrop;
  }
  // Step 6. Packets that end a connection must be new and acknowledge something new.
  const bool ends =
      type == PacketType::kCloseReq || type == PacketType::kClose || type == PacketType::kReset;
  const Seq64 lowest_seq = ends ? gsr_ + 1 : swl();
  const Seq64 lowest_ack = ends ? gar_ : awl();
  const bool valid =
      seq >= lowest_seq && seq <= swh() && (!ack || (*ack >= lowest_ack && *ack <= awh()));
  if (valid) return Verdict::kAccept;
  return type == PacketType::kReset ? Verdict::kSyncGsr : Verdict::kSyncPacket;
}

void SequenceSpace::OnAccepted(PacketType type, Seq64 seq, std::optional<Seq64> ack) {
  gsr_ = std::max(gsr_, seq);
  if (ack && type != PacketType::kSync) gar_ = std::max(gar_, *ack);
}

}  // namespace dccp
