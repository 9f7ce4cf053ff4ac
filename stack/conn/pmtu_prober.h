// Path MTU discovery without ICMP: which size to probe, when, and what the answers tell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/conn/timer_set.h"

namespace dccp {

// Finds the size that a path carries from what becomes of packets. RFC 8899 §5; RFC 4340 §14.1
//
// It begins at the interface's MTU, unasked, as RFC 4340 §14.1 wants, so that a path without
// trouble costs no probe at all. From then on it follows one large data packet at a time, the
// witness. Where several in a row are lost the size in use is probed, then smaller ones (BASE,
// ERROR); once a smaller probe arrives where the larger did not, the path is a black hole for the
// latter, and the search goes up from the smaller one (SEARCHING) until it is settled (SEARCH
// COMPLETE). What lies below the interface's MTU is tried again every ten minutes of use. The MTU
// falls only on such evidence: a path that is merely down keeps its own.
//
// A probe is a padded Sync. The peer answers it at once and ignores its data (RFC 4340 §5.7), so
// its loss harms no application; nor is it congestion, for it is no data. One is out at a time.
//
// Owns no timer and sends nothing. Constant work for each packet sent; nothing is allocated.
class PmtuProber {
 public:
  // The states of RFC 8899 §5.2.
  enum class State : std::uint8_t { kDisabled, kBase, kSearching, kSearchComplete, kError };

  static constexpr std::uint32_t kMaxProbes = 3;                        // RFC 8899 §5.1.2
  static constexpr Duration kRaiseInterval = std::chrono::minutes(10);  // RFC 8899 §5.1.1
  static constexpr std::uint32_t kStepBytes = 4;  // sizes that differ by less count as equal

  // `interface_mtu` is where it begins and what it never exceeds.
  PmtuProber(IpFamily family, std::uint32_t interface_mtu);

  // Off at first. Switched off it forgets its probes and keeps the MTU.
  void SetEnabled(bool enabled, TimePoint now);
  // A path that nothing is known of. `confirm`: ask at once whether it carries that size.
  void Restart(std::uint32_t interface_mtu, bool confirm, TimePoint now);
  // ICMP lowered the MTU.
  void OnLowered(std::uint32_t mtu, TimePoint now);
  // ICMP says that our packet `seq` was too big for a hop of `next_hop_mtu` bytes (0: unknown).
  void OnTooBig(Seq64 seq, std::uint32_t next_hop_mtu, TimePoint now);
  // Something else casts doubt on the size in use. Ignored while it is being looked into.
  void Suspect(TimePoint now);

  // `ip_bytes` of the whole packet, of which `payload_bytes` are the application's.
  void OnDataSent(Seq64 seq, std::uint32_t ip_bytes, std::uint32_t payload_bytes, TimePoint now);
  // What became of packets of ours.
  void OnFates(std::span<const FateRun> runs, TimePoint now);
  void OnSyncAck(Seq64 acked, TimePoint now);
  // Everything in flight was given up.
  void OnTimeout(TimePoint now);

  // The IP packet size of a probe to send now; empty: none. Call it at NextTimeout().
  std::optional<std::uint32_t> Due(TimePoint now);
  void OnProbeSent(Seq64 seq, TimePoint now, Duration rtt);
  // It may not leave yet.
  void Postpone(TimePoint now);
  TimePoint NextTimeout() const;

  State state() const { return state_; }
  // The size that the path carries, as far as is known.
  std::uint32_t mtu() const { return mtu_; }
  // Times that a smaller size got through where the one in use did not.
  std::uint32_t black_holes() const { return black_holes_; }

 private:
  struct Witness {
    Seq64 seq;
    std::uint32_t bytes;
    std::uint32_t payload_bytes;
    TimePoint sent;
  };

  std::uint32_t Floor() const;
  std::uint32_t BaseMtu() const;
  // Greatest size below `mtu` that BASE or ERROR tries; 0: none.
  std::uint32_t RungBelow(std::uint32_t mtu) const;
  std::uint32_t NextStep() const { return mtu_ / kStepBytes * kStepBytes + kStepBytes; }

  void Try(std::uint32_t bytes, TimePoint at);
  void Doubt(TimePoint now);
  bool HasData();
  void Search(TimePoint now);
  void Complete(TimePoint now);
  void StartRaise(TimePoint now);
  void OnProbeArrived(TimePoint now);
  void OnProbeLost(TimePoint now);
  void OnSizeFailed(TimePoint now);
  void OnWitnessArrived(TimePoint now);
  void OnWitnessLost(std::uint32_t weight, TimePoint now);
  void ForgetWitnesses();

  const IpFamily family_;
  State state_ = State::kDisabled;
  std::uint32_t ceiling_;
  std::uint32_t mtu_;
  std::uint32_t too_big_;        // the least size that is known to be lost
  std::uint32_t hint_ = 0;       // a router named this size; 0: none did
  std::uint32_t candidate_ = 0;  // the size being tried; 0: none
  std::uint32_t tries_ = 0;
  std::uint32_t proven_ = 0;     // BASE, ERROR: this smaller size got through; 0: none yet
  std::optional<Seq64> probe_;   // the one that is out
  TimePoint deadline_ = kNever;  // of the probe that is out, or when to send the next
  TimePoint raise_at_ = kNever;
  bool data_sent_ = false;       // since the last search ended
  bool waits_for_data_ = false;  // something is due once there is data again
  bool witness_clears_ = false;  // the doubt is due to lost witnesses, so one that arrives ends it
  Backoff retry_;                // while nothing at all gets through
  TimePoint quiet_until_ = TimePoint::min();  // no doubt before
  std::uint32_t black_holes_ = 0;

  std::optional<Witness> witness_;
  std::uint32_t witness_least_;  // smaller packets say nothing
  std::uint32_t score_ = 0;      // of witnesses lost in a row
  std::optional<TimePoint> unconfirmed_since_;
};

}  // namespace dccp
