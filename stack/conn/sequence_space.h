// Sequence numbers of one connection: what we sent, what we saw, and which packets are valid.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/seqno.h"
#include "dccp/types.h"

namespace dccp {

// Owns ISS, ISR, GSS, GSR, GAR, OSR and the two windows. Numbers are unwrapped, so comparisons are
// plain; the clamps "SWL not below ISR, AWL not below ISS" are then right for the whole life of the
// connection: an unwrapped number below ISR belongs to no packet of it. RFC 4340 §7.1-§7.5
class SequenceSpace {
 public:
  static constexpr std::uint64_t kMinWindow = 32;
  static constexpr std::uint64_t kMaxWindow = (std::uint64_t{1} << 46) - 1;
  static constexpr std::uint64_t kDefaultWindow = 100;

  // What to do with a packet. RFC 4340 §7.5.4
  enum class Verdict : std::uint8_t {
    kAccept,
    kSyncPacket,  // send a Sync that acknowledges the packet, drop it
    kSyncGsr,     // send a Sync that acknowledges GSR (the packet was a Reset), drop it
    kDrop,        // drop without an answer
  };

  // Chooses the first number to send; nothing is sent yet.
  void SetIss(SeqNo iss);
  // The first packet of the peer. GSR follows.
  void SetIsr(SeqNo isr);

  // Takes the number for the next packet: GSS + 1. RFC 4340 §8.5, "Send packet"
  Seq64 TakeNext() { return ++gss_; }
  Seq64 PeekNext() const { return gss_ + 1; }

  // Unwraps what a packet carries: 48-bit numbers, or 24-bit ones if `extended` is false. §7.6
  Seq64 UnwrapSeq(SeqNo seq, bool extended) const;
  Seq64 UnwrapAck(SeqNo ack, bool extended) const;

  // Steps 5 and 6 of §8.5. `active`: a valid packet came within the last three round trips, which
  // bounds Syncs from above too. §7.5.3
  Verdict Check(PacketType type, Seq64 seq, std::optional<Seq64> ack, bool active) const;
  // AWL <= ack <= AWH, the test of step 4.
  bool AckInWindow(Seq64 ack) const { return ack >= awl() && ack <= awh(); }

  // A valid packet arrived: GSR, and GAR unless it is a Sync, take their circular maximum.
  void OnAccepted(PacketType type, Seq64 seq, std::optional<Seq64> ack);

  // Sequence Window/remote rules what we accept, Sequence Window/local which acks. §7.5.2
  void SetRemoteWindow(std::uint64_t w) { remote_window_ = w; }
  void SetLocalWindow(std::uint64_t w) { local_window_ = w; }
  std::uint64_t remote_window() const { return remote_window_; }
  std::uint64_t local_window() const { return local_window_; }

  void SetOsr(Seq64 osr) { osr_ = osr; }
  Seq64 osr() const { return osr_; }

  bool has_isr() const { return has_isr_; }
  Seq64 iss() const { return iss_; }
  Seq64 isr() const { return isr_; }
  Seq64 gss() const { return gss_; }
  Seq64 gsr() const { return gsr_; }
  Seq64 gar() const { return gar_; }
  Seq64 swl() const;
  Seq64 swh() const;
  Seq64 awl() const;
  Seq64 awh() const { return gss_; }

 private:
  Seq64 iss_, isr_, gss_, gsr_, gar_, osr_;
  bool has_isr_ = false;
  std::uint64_t remote_window_ = kDefaultWindow;
  std::uint64_t local_window_ = kDefaultWindow;
};

}  // namespace dccp
