// The congestion window of CCID 2 and its slow-start threshold. RFC 4341 §5
#pragma once

#include <cstdint>
#include <limits>

namespace dccp::ccid2 {

// RFC 3390's initial window in whole packets of `packet_bytes` of payload: four at most, two at
// least, and not more than 4380 bytes in between. Two while the size is not known (zero).
std::uint32_t InitialWindow(std::uint32_t packet_bytes);

// A value: cwnd and ssthresh in packets, with the fractions of growth kept as counters. It knows
// how the window moves, not when: the sender decides what is an event and whether growth is earned.
// Promises cwnd >= 1 and ssthresh >= 2 always.
class CongestionWindow {
 public:
  explicit CongestionWindow(std::uint32_t initial_packets) : cwnd_(initial_packets) {}

  std::uint32_t cwnd() const { return cwnd_; }
  std::uint32_t ssthresh() const { return ssthresh_; }
  bool in_slow_start() const { return cwnd_ < ssthresh_; }

  // One acknowledgement newly acknowledged `acked` data packets as State 0. In slow start two make
  // one packet, at most Ack Ratio / 2 packets for one acknowledgement; an odd half is carried over,
  // so that with Ack Ratio 1 two acknowledgements make one packet. In congestion avoidance a whole
  // window makes one packet. Never above `limit`.
  void Grow(std::uint32_t acked, std::uint32_t ack_ratio, std::uint32_t limit);

  // What a congestion event would leave: half, rounded down, at least one.
  std::uint32_t Halved() const { return cwnd_ > 2 ? cwnd_ / 2 : 1; }
  // Reduces to `packets` (at least one, at most the present window) and leaves slow start.
  void ReduceTo(std::uint32_t packets);
  void LeaveSlowStart() { ReduceTo(cwnd_); }
  // ssthresh := cwnd / 2, cwnd := 1.
  void OnTimeout();
  // `periods` timeouts have passed in silence: halved for each, but not below `floor`; ssthresh
  // remembers three quarters of what the path once carried. RFC 2861 §3
  void OnIdle(std::int64_t periods, std::uint32_t floor);
  // A limit from outside; no congestion.
  void ClampTo(std::uint32_t limit);

 private:
  std::uint32_t cwnd_;
  std::uint32_t ssthresh_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t half_packets_ = 0;     // slow start: 0 or 1
  std::uint32_t acked_in_window_ = 0;  // congestion avoidance: below cwnd
};

}  // namespace dccp::ccid2
