// What the receiver must report in Ack Vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/option_writer.h"
#include "dccp/seqno.h"
#include "dccp/types.h"
#include "stack/base/ring.h"
#include "stack/wire/ack_vector_codec.h"

namespace dccp {

// What became of a number that the peer may have sent.
enum class RecordResult : std::uint8_t {
  kNew,
  kDuplicate,  // it had arrived before: drop the packet
  kTooOld,     // before the first number, or forgotten: to be treated as a duplicate
};

// What this endpoint received and must report: runs of packets with one Ack Vector State, newest
// first, from the greatest number received down to as far as memory goes. RFC 4340 §11.4,
// Appendix A
//
// The Acknowledgement Window, from window_start() to greatest(), is what every Write covers. Below
// it lies a little history of numbers whose report the peer is known to have seen: they still tell
// duplicates, and one that arrives late pulls the window back to it. Runs are unlimited in length
// (a gap of 2^46 is one of them) and become cells of 64 in Write. At most `max_runs` are kept: then
// the oldest go, reported or not. ECN Nonces are kept one by one, so that the Nonce Echo is exact
// however the vector is split. RFC 4340 §12.2
class AckVectorBuffer {
 public:
  static constexpr std::size_t kDefaultMaxRuns = 4096;

  explicit AckVectorBuffer(std::size_t max_runs = kDefaultMaxRuns);

  // The peer's first number is `isr`; it is not received before it is recorded.
  void Start(Seq64 isr);

  // A valid packet arrived and its options were processed: it is acknowledgeable. Of a duplicate
  // nothing is kept, its mark neither. RFC 4340 §11.4.1
  RecordResult Record(Seq64 seq, Ecn ecn, PacketType type);
  // Whether Record would call `seq` a duplicate or too old. RFC 4340 §7.5.1
  bool Received(Seq64 seq) const;

  // Writes Ack Vector options for a packet of ours that is numbered `our_seq` and acknowledges
  // greatest(), and remembers them. What does not fit is left out at the old end. Returns the
  // number of bytes written; it is EncodedBytes() when the whole window was covered.
  std::size_t Write(OptionWriter& out, Seq64 our_seq);
  // Bytes that Write needs to cover the whole Acknowledgement Window. Costs nothing as long as
  // packets arrive in order of their numbers, holes or not.
  std::size_t EncodedBytes() const;
  // Remembers an acknowledgement of greatest() that carries no Ack Vector.
  void NoteAckSent(Seq64 our_seq);

  // The peer acknowledged our packet `our_seq`, which went through Write or NoteAckSent: what it
  // reported leaves the Acknowledgement Window. RFC 4340 §11.4.2, Appendix A.3
  void OnAckOfAck(Seq64 our_seq);

  // No data packet is left that was received and whose report the peer is not known to have seen.
  bool AllAcknowledged() const { return newest_data_ < window_start_; }

  // The greatest acknowledgeable number; one less than the first number before any was recorded.
  Seq64 greatest() const { return greatest_; }
  Seq64 window_start() const { return window_start_; }
  // The oldest number remembered.
  Seq64 oldest() const { return greatest_ - remembered_ + 1; }
  std::size_t runs() const { return size_; }
  // Packets thrown out of the window unreported, because memory or option space ran out.
  std::uint64_t overflowed() const { return overflowed_; }

 private:
  // `length` packets of one state. Bit i of `nonces` is the ECN Nonce of the i-th oldest of them;
  // those beyond the 64th have nonce 0.
  struct Run {
    std::uint64_t nonces = 0;
    std::int64_t length = 0;
    AckState state = AckState::kReceived;
  };
  // Our packet `our_seq` reported the numbers from `from` to `to`.
  struct SentAck {
    Seq64 our_seq;
    Seq64 from;
    Seq64 to;
  };
  // The newest part of the window that some number of cells can report.
  struct Coverage {
    std::int64_t cells = 0;
    std::int64_t packets = 0;
  };
  // Where Write stands in the runs.
  struct Cursor {
    std::size_t run = 0;
    std::int64_t used = 0;  // packets of that run already written, from its newest on
  };
  static constexpr std::size_t kMaxSentAcks = 256;
  static constexpr std::size_t kHistoryRuns = 64;

  Run& At(std::size_t i) { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  const Run& At(std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  void PushFront(const Run& run);
  void DropOldest();
  // Index of the run with `seq`, and how many packets of it are newer; `seq` is remembered.
  std::size_t Find(Seq64 seq, std::int64_t* newer) const;
  void ShiftNewer(std::size_t i, std::size_t extra);
  void Remove(std::size_t i);
  static bool Joinable(const Run& newer, const Run& older);
  static void Join(const Run& newer, Run& older);
  void JoinWithOlder(std::size_t i);
  void ForgetHistory();

  RecordResult RecordLate(Seq64 seq, const Run& one);
  void PullBack(Seq64 seq);
  Coverage Cover(std::int64_t max_cells) const;
  const Coverage& Whole() const;
  void CountPushed(const Run& run, bool joins);
  unsigned FillOption(Cursor& cursor, std::int64_t* packets, std::span<std::byte> cells) const;
  void Remember(Seq64 our_seq, Seq64 from);

  std::size_t max_runs_;
  std::vector<Run> ring_;  // a power of two; index 0 is the newest run
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::int64_t remembered_ = 0;  // packets in all runs
  Seq64 greatest_;
  Seq64 window_start_;
  Seq64 newest_data_;
  mutable Coverage whole_;  // what Whole() returns, while whole_valid_
  mutable bool whole_valid_ = false;
  Ring<SentAck, kMaxSentAcks> sent_acks_;  // oldest first
  std::uint64_t overflowed_ = 0;
};

}  // namespace dccp
