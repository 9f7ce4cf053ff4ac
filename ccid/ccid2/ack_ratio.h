// Congestion control of the peer's acknowledgements by means of Ack Ratio. RFC 4341 §6.1.2
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/time.h"

namespace dccp::ccid2 {

// A value. Told of windows of data and of lost or marked acknowledgements, it says which Ack Ratio
// to ask the peer for. What it asks for always meets the constraints of RFC 4341 §6.1.2: an integer
// from 1 to 65535, at most cwnd/2 rounded up (2 is always allowed), at least 2 from cwnd 4 on.
//
// Deviation: RFC 4341 raises Ack Ratio only after acknowledgements were lost. With segmentation
// offload a burst of data costs less than one acknowledgement for every pair of it, so for large
// windows the ratio is raised ahead of loss, leaving `acks_per_window` acknowledgements in a window
// (up to ratio kMaxAheadRatio); the RFC's decrease by one stops at that floor. This only lowers the
// load on the reverse path and stays within the constraints. acks_per_window 0 turns it off.
class AckRatioControl {
 public:
  static constexpr std::uint32_t kDefault = 2;  // RFC 4340 §11.3
  static constexpr std::uint32_t kMax = 65535;
  static constexpr std::uint32_t kMaxAheadRatio = 64;
  static constexpr std::uint32_t kPersistentWindows = 4;
  static constexpr int kPatience = 4;

  // `current` as agreed: 0 means that the peer has been told of none and is taken as the default.
  AckRatioControl(std::uint32_t current, std::uint32_t acks_per_window);

  // The ratio that the peer has confirmed, and the one it was asked for last.
  std::uint32_t current() const { return current_; }
  std::uint32_t asked() const { return asked_; }
  // The most that a window allows.
  static std::uint32_t MaxFor(std::uint32_t cwnd);

  // The ratio took a new value (the peer confirmed it).
  void OnFeature(std::uint64_t value);
  // Sequence Window of the peer. Our acknowledgements of its acknowledgements stay valid only while
  // the acknowledgements under way fit its window. RFC 4340 §7.5.1
  void OnPeerSequenceWindow(std::uint64_t value);
  // Acknowledgements (non-data packets) of the peer were lost or marked.
  void OnReverseCongestion() { congested_ = true; }
  // A window of data sent under the present conditions has been acknowledged.
  void OnWindowEnd(std::uint32_t cwnd);

  // The value to ask for now, with `used` packets of the window really sent in a round trip; at
  // most once a round trip and only when it matters. What is not confirmed within kPatience round
  // trips is asked for again.
  std::optional<std::uint32_t> Request(std::uint32_t cwnd, std::uint32_t used, TimePoint now,
                                       Duration rtt);

 private:
  std::uint32_t Wanted(std::uint32_t cwnd, std::uint32_t used) const;
  void Adapt(std::uint32_t cwnd);

  std::uint32_t acks_per_window_;
  std::uint32_t current_;
  std::uint32_t asked_;
  std::optional<TimePoint> asked_at_;
  std::uint32_t rule_;                        // the ratio by the doubling and decreasing rule alone
  std::uint32_t clean_windows_ = 0;           // consecutive, without reverse congestion
  std::uint32_t small_windows_ = 0;           // consecutive, with cwnd 1 or 2
  bool congested_ = false;                    // in this window of data
  bool settled_ = true;                       // asked_ was in force when this window of data began
  std::uint64_t peer_sequence_window_ = 100;  // RFC 4340 §7.5.2
};

}  // namespace dccp::ccid2
