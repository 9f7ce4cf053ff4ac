// The receiving side of CCID 2: when to acknowledge. RFC 4341 §6, RFC 4340 §11.3
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/ccid.h"

namespace dccp::ccid2 {

// Owns the count of data packets since the last acknowledgement and the delayed-acknowledgement
// timer. Promises an acknowledgement after every Ack Ratio data packets, for any data packet within
// kMaxDelay, at once for data out of order, and at once for a Congestion Experienced mark, the last
// at most once a round trip. What the acknowledgement says (Ack Vector) is the connection's; CCID 2
// has no options of its own. Every acknowledgement acknowledges all, so one pays for all that a
// long run owes.
class Ccid2Receiver final : public CcidReceiver {
 public:
  static constexpr Duration kMaxDelay = std::chrono::milliseconds(200);  // RFC 4340 §11.3

  explicit Ccid2Receiver(const CcidInit& init);

  ReceiverVerdict OnPackets(const ArrivedRun& run) override;
  void OnBuildAck(const BuildInfo& info, OptionWriter& options) override;
  void OnAckOfAck(bool everything, TimePoint now) override;
  TimePoint NextTimeout() const override { return deadline_; }
  AckDemand OnTimeout(TimePoint now) override;
  bool PeerQuiescent(TimePoint now) const override;
  void OnPathInfo(const PathInfo& path, TimePoint now) override;
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) override;
  ReceiverStats Stats() const override { return stats_; }

 private:
  Duration RttOrDefault() const;
  // True when a mark at `now` deserves an acknowledgement at once.
  bool TakeMark(TimePoint now);

  std::uint32_t ack_ratio_;
  std::uint64_t unacknowledged_ = 0;  // data packets
  TimePoint deadline_ = kNever;       // for the oldest of them
  std::optional<TimePoint> last_mark_ack_;
  TimePoint last_data_;
  bool all_acks_seen_ = true;  // the peer has seen acknowledgements of all data that came
  ReceiverStats stats_;
};

}  // namespace dccp::ccid2
