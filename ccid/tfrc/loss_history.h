// Which packets were lost, and the loss events and loss intervals they make up.
// RFC 5348 §5.1-5.3, RFC 4342 §6.1, §10.2
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ccid/tfrc/reorder_window.h"
#include "dccp/seqno.h"
#include "dccp/time.h"

namespace dccp::tfrc {

// How losses are told apart. With a round-trip time (RFC 6323) by the interpolated time of arrival
// (RFC 5348 §5.2), else by the window counter (RFC 4342 §10.2).
struct EventRule {
  std::optional<Duration> rtt;
};

// A loss interval as the Loss Intervals option reports it. RFC 4342 §8.6
struct LossInterval {
  std::uint64_t lossless = 0;  // packets after the lossy part
  std::uint64_t lossy = 0;     // packets from the first to the last lost or marked; 0: no loss
  double data = 0;             // data packets in both
  bool nonce_echo = false;     // ECN nonce sum of the data packets of the lossless part
  std::uint64_t lost = 0;      // packets lost or marked
  std::uint64_t counters = 0;  // window counters from its begin to the begin of the next
};

// Owns the reception record of a half-connection. Promises that a data packet is lost once three
// packets with greater numbers have arrived, that NDP Counts acquit non-data packets, that a mark
// is an event at once, and that a packet which comes late after all is taken out of its event.
// Costs O(1) for a packet in order. Nothing is allocated.
class LossHistory {
 public:
  // The open interval, eight closed ones, and the one before the first loss or another.
  static constexpr std::size_t kMaxEvents = 10;
  static constexpr std::size_t kMaxIntervals = kMaxEvents + 1;

  struct Outcome {
    std::uint32_t new_events = 0;
    bool removed_event = false;
    bool first_event = false;  // the first since the start: SetFirstInterval is due
  };

  // `next`: the number that the first packet would have if none were missing.
  explicit LossHistory(Seq64 next) : window_(next), first_(next) {}

  // A packet that had not arrived before.
  Outcome OnArrival(const ArrivedPacket& packet, const EventRule& rule);
  // The length that stands for the time before the first loss. RFC 5348 §6.3.1
  void SetFirstInterval(double packets) { first_interval_ = packets; }

  // No data packet had arrived before the first loss or mark. RFC 5348 §6.3.1
  bool first_data_packet_lost() const { return first_data_lost_; }
  bool any_loss() const { return event_count_ > 0; }

  // Newest first; how many were written. They end just before next(): what comes after, at most
  // three packets, may still turn out lost.
  std::size_t Intervals(std::span<LossInterval> out) const;
  Seq64 next() const { return window_.next(); }

 private:
  struct Event {
    Seq64 start;                 // first lost or marked packet,
    Seq64 last;                  // and last
    std::uint64_t counter = 0;   // window counter of the packet before the first, unwrapped
    TimePoint time;              // when the first would have arrived
    std::uint64_t non_data = 0;  // non-data packets before the first
    std::uint32_t losses = 0;    // packets lost or marked
    bool nonce_before = false;   // nonce sum of what came before the first,
    bool nonce_after = false;    // and up to the last
  };
  // Consecutive lost packets that may still come.
  struct Hole {
    Seq64 first;
    std::int64_t length = 0;
  };
  static constexpr std::size_t kMaxHoles = 64;

  void Gap(const ArrivedPacket& after, const EventRule& rule, Outcome* outcome);
  void Settle(const ArrivedPacket& packet, const EventRule& rule, Outcome* outcome);
  void Late(const ArrivedPacket& packet, Outcome* outcome);
  void AddLoss(Seq64 seq, std::int64_t length, TimePoint time, const EventRule& rule,
               Outcome* outcome);
  bool SameEvent(TimePoint time, const EventRule& rule) const;
  void StartEvent(Seq64 seq, TimePoint time, Outcome* outcome);
  void RememberHole(Seq64 first, std::int64_t length);
  bool FillHole(Seq64 seq);
  void Shrink(Event& event);
  void Remove(std::size_t index);

  ReorderWindow window_;
  Seq64 first_;
  std::array<Event, kMaxEvents> events_ = {};  // newest first
  std::size_t event_count_ = 0;
  bool oldest_known_ = true;  // events_ goes back to the first
  double first_interval_ = 0;
  bool first_data_lost_ = false;

  std::array<Hole, kMaxHoles> holes_ = {};  // a ring, by age
  std::size_t next_hole_ = 0;

  // Of the packet before window_.next():
  std::uint64_t counter_ = 0;  // of the newest data packet, unwrapped
  TimePoint time_;
  bool any_ = false;  // some packet has arrived,
  bool any_data_ = false;
  std::uint64_t non_data_ = 0;  // non-data packets so far
  bool nonce_ = false;          // nonce sum of the data packets so far
};

}  // namespace dccp::tfrc
