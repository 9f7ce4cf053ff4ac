#include "stack/conn/acknowledger.h"

#include "stack/wire/option_codec.h"

namespace dccp {

bool Acknowledger::Record(Seq64 seq, Ecn ecn, PacketType type, TimePoint now) {
  const Seq64 before = vector_.greatest();
  vector_.Record(seq, ecn, type);
  if (seq > before) greatest_arrival_ = now;
  return seq == before + 1;
}

void Acknowledger::Demand(const AckDemand& demand) {
  if (demand.kind == AckDemand::Kind::kNone) return;
  pending_ = true;
  if (demand.kind == AckDemand::Kind::kNow) due_ = true;
}

void Acknowledger::WriteOptions(Seq64 our_seq, TimePoint now, OptionWriter& out) {
  const Duration elapsed = now - greatest_arrival_;
  if (always_elapsed_ || elapsed >= kPrompt) AddElapsedTime(out, TenMicros::FromDuration(elapsed));
  // The vector comes first: what a shortage of room leaves out of Data Dropped counts as Normal,
  // and what it leaves out of the vector as lost. §11.4, §11.7
  if (send_vector_) {
    vector_.Write(out, our_seq);
  } else {
    vector_.NoteAckSent(our_seq);
  }
  if (!dropped_.empty()) dropped_.Write(out, vector_.greatest(), vector_.window_start());
}

std::size_t Acknowledger::WantedBytes() const {
  constexpr std::size_t kElapsedBytes = 6;
  std::size_t bytes = kElapsedBytes + VectorBytes();
  if (!dropped_.empty()) bytes += dropped_.EncodedBytes(vector_.greatest(), vector_.window_start());
  return bytes;
}

void Acknowledger::OnAckOfAck(Seq64 our_seq) {
  vector_.OnAckOfAck(our_seq);
  dropped_.ForgetBefore(vector_.oldest());
}

}  // namespace dccp
