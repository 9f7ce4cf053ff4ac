// What we sent, and what acknowledgements tell of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// A packet of ours that was handed to the network.
struct SentPacket {
  Seq64 seq;
  TimePoint time;
  PacketType type = PacketType::kData;
  std::uint32_t payload_bytes = 0;
  bool data = false;         // it counts in the pipe: application data, or a Data/DataAck packet
  bool app_limited = false;  // the send queue was empty after it left
  bool carries_ack = false;  // it went through AckVectorBuffer::Write or NoteAckSent
  bool nonce = false;        // it left with the ECN Nonce, ECT(1). RFC 4340 §12.2
};

// The option data of one Ack Vector option, in the order of the packet.
struct AckVectorOption {
  std::span<const std::byte> cells;
  bool nonce_echo = false;  // option 39
};

// An acknowledgement as the packet carried it. Of a Sync the Acknowledgement Number acknowledges
// nothing: it must not be handed over. RFC 4340 §7.5.4
struct AckInfo {
  Seq64 ackno;
  TimePoint now;
  std::optional<Duration> elapsed;  // Elapsed Time option. RFC 4340 §13.2
  std::span<const AckVectorOption> vectors;
};

// What one acknowledgement told. The span is valid until the next call of OnAck.
struct Digest {
  // The acknowledgement names a packet never sent: ignored altogether. (Its sequence validity
  // checks should have caught it.)
  bool invalid_ackno = false;
  // The vectors reach below our first number and were ignored; the caller may reset the connection
  // with Reset Code 5 instead. RFC 4340 §11.4
  bool invalid_vector = false;

  std::span<const FateRun> runs;            // newly decided, oldest first
  std::uint32_t received_data_packets = 0;  // sums over `runs`, by fate
  std::uint64_t received_data_bytes = 0;
  std::uint32_t marked_data_packets = 0;
  std::uint32_t lost_data_packets = 0;
  std::uint32_t in_flight_data_packets = 0;
  std::uint64_t newly_acked_packets = 0;  // of any type, late ones included
  // Whether every Nonce Echo that could be checked was right; kUnknown where none could be, or no
  // packet ever carried a nonce. `right_ones`: how many of the right ones were 1.
  NonceVerdict nonce = NonceVerdict::kUnknown;
  std::uint32_t right_ones = 0;
  // How long ago the packet of the Acknowledgement Number was sent, where it is newly acknowledged;
  // and the RTT sample it gives, absent also where the Elapsed Time leaves nothing of that.
  std::optional<Duration> age;
  std::optional<Duration> rtt;
  RateSample rate;
  // Greatest of the newly acknowledged packets of ours that carried an acknowledgement: the
  // argument of AckVectorBuffer::OnAckOfAck.
  std::optional<Seq64> newest_acked_ack;
};

// Which acknowledgements the peer sends.
enum class AckCoverage : std::uint8_t {
  kAckVector,   // Ack Vectors tell of every packet (CCID 2)
  kNumberOnly,  // only the packet of the Acknowledgement Number is known to have arrived (CCID 3)
};

// Every packet we sent, until its fate is decided and for as long after as memory goes: at least
// as many packets as are in flight. Turns an acknowledgement into fates, one RTT sample and one
// rate sample. RFC 4340 §11.4.1, RFC 4341 §5
//
// The states are kept as runs and the counts of packets and bytes as prefix sums in a ring indexed
// by sequence number, so an acknowledgement costs in proportion to its cells and to the runs they
// touch, not to the packets. A packet is lost when three packets sent after it, of any type, were
// acknowledged (NUMDUPACK). With kNumberOnly nothing is ever called lost here: what was sent before
// the acknowledged packet is forgotten without a fate, and there is no rate sample.
//
// Where one packet is reported both received and marked, it becomes marked, so that the order of
// acknowledgements does not matter; but a fate is told once: the later mark makes no second one.
class SentHistory {
 public:
  static constexpr std::int64_t kNumDupAck = 3;
  static constexpr std::size_t kMaxPackets = std::size_t{1} << 20;

  // At the start and, with a fresh history, after a feature changed.
  void set_coverage(AckCoverage coverage) { coverage_ = coverage; }

  // In order and without holes: every packet of the connection, Requests first.
  void OnSent(const SentPacket& packet);
  Digest OnAck(const AckInfo& ack);
  // A timeout: nothing is in flight any more; an acknowledgement that still comes is kLate.
  void AbandonInFlight();

  std::uint32_t in_flight_data_packets() const { return in_flight_data_; }
  // Greatest number sent, and greatest acknowledged; empty before the first.
  std::optional<Seq64> greatest_sent() const;
  std::optional<Seq64> greatest_acked() const { return greatest_acked_; }
  // When a packet that is still remembered was sent.
  std::optional<TimePoint> SentTime(Seq64 seq) const;
  // The packet is known to have arrived; false also where it is forgotten.
  bool IsAcked(Seq64 seq) const;
  // The peer may speak of the packet as one that arrived: acknowledgements have said so or, where
  // they only tell of one packet in many, do not say otherwise.
  bool MayHaveArrived(Seq64 seq) const;

  // Work done so far, for cost tests: cells read and runs visited.
  std::uint64_t steps() const { return steps_; }
  std::size_t runs() const { return runs_.size() - first_run_; }
  std::size_t capacity() const { return ring_.size(); }

 private:
  enum class State : std::uint8_t { kOutstanding, kReceived, kMarked, kLost, kAbandoned };
  struct Run {
    Seq64 first;
    std::int64_t length;
    State state;
    Seq64 end() const { return first + length; }
  };
  // Sums count everything up to and including this packet, modulo their width.
  struct Entry {
    TimePoint time;
    TimePoint first_sent;  // rate sample snapshot
    TimePoint delivered_time;
    std::uint64_t delivered_bytes;
    std::uint64_t sum_bytes;
    std::uint32_t delivered_packets;
    std::uint32_t sum_packets;
    std::uint32_t since_ack;  // distance to the newest packet up to here that carried an ack
    bool sum_nonce;
    bool app_limited;
  };
  static constexpr std::uint32_t kNoAckBefore = 0xFFFFFFFFu;
  static constexpr std::size_t kFirstCapacity = 128;
  static constexpr std::size_t kMaxRuns = 8192;

  // Packets and bytes of consecutive packets.
  struct Sums {
    std::uint32_t data_packets;
    std::uint64_t data_bytes;
  };

  Entry& At(Seq64 seq) { return ring_[Index(seq)]; }
  const Entry& At(Seq64 seq) const { return ring_[Index(seq)]; }
  std::size_t Index(Seq64 seq) const {
    return static_cast<std::size_t>(seq.value()) & (ring_.size() - 1);
  }
  const Entry& Before(Seq64 seq) const { return seq == base_ ? before_base_ : At(seq - 1); }
  Sums SumsOf(Seq64 first, std::int64_t length) const;

  void MakeRoom();
  void Grow();
  void EvictOldest();
  void ForgetBefore(Seq64 seq);
  void TrimRuns();

  bool ReachesBelowFirst(const AckInfo& ack) const;
  void Apply(const AckInfo& ack);
  void ApplyReport(Seq64 first, Seq64 last, State reported);
  void TakeOff(Seq64 above);
  void PutAside(const Run& run);
  void PutBack();
  void InferLosses();
  void ForgetUnreported(Seq64 ackno);
  void AdvanceUndecided();
  void CheckNonces(const AckInfo& ack, Digest* digest) const;

  State Decide(Seq64 first, std::int64_t length, State from, State to);
  void Emit(Seq64 first, std::int64_t length, Fate fate, const Sums& sums);
  void NoteArrival(Seq64 first, std::int64_t length, const Sums& sums);
  RateSample MakeRateSample(TimePoint now);
  void SummariseFates(Digest& digest);

  AckCoverage coverage_ = AckCoverage::kAckVector;
  std::vector<Entry> ring_;  // a power of two
  Seq64 first_;              // our first number
  Seq64 base_;               // oldest remembered
  Seq64 next_;               // one beyond the newest
  Seq64 undecided_from_;     // nothing before it is outstanding
  Entry before_base_ = {};   // sums of what is forgotten
  std::vector<Run> runs_;    // oldest first, from index first_run_; they tile [base_, next_)
  std::size_t first_run_ = 0;
  std::vector<Run> aside_;  // scratch of Apply: runs taken off runs_, newest first
  std::vector<FateRun> fates_;
  std::vector<FateRun> evicted_;  // lost for want of memory since the last acknowledgement
  std::optional<Seq64> greatest_acked_;
  std::uint32_t in_flight_data_ = 0;
  bool nonces_used_ = false;
  std::uint64_t steps_ = 0;

  // Of the acknowledgement at hand.
  std::optional<Seq64> newest_newly_acked_;
  std::optional<Seq64> newest_acked_ack_;
  std::uint64_t newly_acked_ = 0;

  // Delivery rate state.
  std::uint64_t delivered_packets_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  TimePoint delivered_time_;
  TimePoint first_sent_time_;
  std::uint64_t app_limited_until_ = 0;  // in delivered packets; 0: not limited
};

}  // namespace dccp
