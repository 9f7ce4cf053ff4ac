// Does the peer tell the truth about what it received?
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "dccp/time.h"

namespace dccp {

// Judges the acknowledgements of a peer that could gain by concealing losses and marks: detects
// possible misbehaviour, verifies it, and says what to do. RFC 4340 §12.3, §13.2
//
// Warning signs have innocent causes too (a path that clears or rewrites the ECN field, a fault, an
// attack), so they are answered in steps. Evidence is counted once a round trip.
//
// 1. A wrong ECN Nonce Echo is congestion: the CCID is told kMismatch and reacts as to a mark, and
//    from then on no two packets share a nonce. But only where the path was seen to carry nonces,
//    kProof right echoes of 1: a peer that always echoes 0 may sit behind a path that clears them.
// 2. After kUnprovenRounds round trips of mismatches without that proof, or kMismatchRounds with
// it,
//    packets leave without ECT: what would have been marked is then dropped, and a path that treats
//    ECT badly does no more harm.
// 3. A peer once suspected is verified for as long as the connection lasts: every kVerifyRtts round
//    trips one sequence number is withheld, that is, used up without a packet. To acknowledge it is
//    a lie that no path can explain. (The RFC's example is a packet sent with Congestion
//    Experienced. It proves less, since a path may clear that, and nothing about hidden losses.)
//    Each such lie is congestion again, and kLies of them are the last resort, Reset Code 11.
//
// An Elapsed Time beyond the age of the packet that it is about is impossible as well. It gains the
// peer nothing, for no RTT sample is taken of it. kElapsedRounds round trips in a row without one
// possible value, and with values larger than any coarse clock explains, end the connection.
class MisbehaviourMonitor {
 public:
  static constexpr std::uint32_t kProof = 4;
  static constexpr std::uint32_t kUnprovenRounds = 4;
  static constexpr std::uint32_t kMismatchRounds = 16;
  static constexpr std::int64_t kVerifyRtts = 4;
  static constexpr std::uint32_t kLies = 3;
  static constexpr std::uint32_t kElapsedRounds = 16;
  static constexpr Duration kElapsedSlack = std::chrono::seconds(1);

  // An acknowledgement of `acked` when `greatest_sent` was the last number sent. `right_ones`: how
  // many of its Nonce Echoes were 1, and rightly so. Returns the verdict for the CCID.
  NonceVerdict OnNonce(NonceVerdict verdict, std::uint32_t right_ones, Seq64 acked,
                       Seq64 greatest_sent);
  // The same acknowledgement had this Elapsed Time, and the packet `acked` was sent `age` ago.
  void OnElapsed(Duration elapsed, Duration age, Seq64 acked, Seq64 greatest_sent);

  // Another path has yet to show that it carries nonces.
  void OnPathChange() { proof_ = mismatch_rounds_ = 0; }

  // Whether a number should be withheld now, where the CCID can bear it.
  bool VerifyDue(TimePoint now, Duration rtt) const;
  void OnWithheld(Seq64 seq, TimePoint now);
  // The number whose acknowledgement is a lie; call OnLie then.
  std::optional<Seq64> withheld() const { return withheld_; }
  void OnLie();

  // A Nonce Echo was wrong at least once.
  bool suspicious() const { return suspicious_; }
  bool without_ect() const { return without_ect_; }
  // End the connection with Reset Code 11, Aggression Penalty.
  bool penalty() const { return lies_ >= kLies || elapsed_rounds_ >= kElapsedRounds; }

  // Counts of acknowledgements, not of round trips.
  std::uint64_t mismatches() const { return mismatches_; }
  std::uint64_t elapsed_too_large() const { return elapsed_too_large_; }
  std::uint32_t lies() const { return lies_; }

 private:
  // Tells the first event of a round trip from the others.
  class Rounds {
   public:
    bool Begin(Seq64 acked, Seq64 greatest_sent) {
      if (end_ && acked <= *end_) return false;
      end_ = greatest_sent;
      return true;
    }

   private:
    std::optional<Seq64> end_;  // greatest number sent when the round began
  };

  Rounds nonce_rounds_;
  std::uint32_t proof_ = 0;
  std::uint32_t mismatch_rounds_ = 0;
  std::uint64_t mismatches_ = 0;
  bool suspicious_ = false;
  bool without_ect_ = false;

  std::optional<Seq64> withheld_;
  std::optional<TimePoint> withheld_at_;
  std::uint32_t lies_ = 0;

  Rounds elapsed_round_;
  std::uint32_t elapsed_rounds_ = 0;
  std::uint64_t elapsed_too_large_ = 0;
};

}  // namespace dccp
