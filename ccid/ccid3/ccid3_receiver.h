// The receiving side of CCID 3, and by its profile of CCID 4: loss intervals, and a feedback each
// round trip. RFC 4342 §6, §10, RFC 5622 §6, §8
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "ccid/ccid3/receive_rate_meter.h"
#include "ccid/ccid3/receiver_rtt.h"
#include "ccid/tfrc/loss_average.h"
#include "ccid/tfrc/loss_history.h"
#include "ccid/tfrc/profile.h"
#include "dccp/ccid.h"
#include "dccp/ccid3.h"

namespace dccp::ccid3 {

// Owns the reception record, the loss event rate, and the state of "a feedback is due". Promises a
// feedback for the first data packet, at once when a loss event raises p or a late packet takes one
// back, and else once a round trip, told by the window counters, or by the sender's own estimate
// where it reports that (RFC 6323). A timer covers what the counters miss when data stops.
//
// A feedback is an acknowledgement with Receive Rate, Loss Intervals and, where asked for, Loss
// Event Rate, in CCID 4 Dropped Packets; Elapsed Time is the connection's to add. Other
// acknowledgements carry none of them,
// except plain Acks, since there are senders that take every Ack for a feedback.
class Ccid3Receiver final : public CcidReceiver {
 public:
  Ccid3Receiver(const CcidInit& init, const Ccid3Options& options,
                const tfrc::Profile& profile = {});

  ReceiverVerdict OnPackets(const ArrivedRun& run) override;
  void OnBuildAck(const BuildInfo& info, OptionWriter& options) override;
  std::size_t AckOptionBytes() const override;
  void OnAckOfAck(bool /*everything*/, TimePoint /*now*/) override {}
  TimePoint NextTimeout() const override { return deadline_; }
  AckDemand OnTimeout(TimePoint now) override;
  bool PeerQuiescent(TimePoint now) const override;
  void OnPathInfo(const PathInfo& path, TimePoint now) override;
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) override;
  ReceiverStats Stats() const override;

 private:
  // As many as the sender's average needs. RFC 4342 §8.6.1
  static constexpr std::size_t kReportedIntervals = tfrc::kIntervals + 1;
  using Intervals = std::array<tfrc::LossInterval, kReportedIntervals>;

  std::optional<ResetReason> ReadOptions(const ArrivedRun& run);
  tfrc::LossHistory::Outcome Record(const ArrivedRun& run);
  bool CountsUp(const ArrivedRun& run);
  bool OnLoss(const tfrc::LossHistory::Outcome& outcome, TimePoint now);
  double FirstInterval(TimePoint now) const;
  void UpdateRate(std::size_t new_events);
  bool IsShort(const tfrc::LossInterval& interval) const;
  bool WriteFeedback(TimePoint now, OptionWriter& options);
  bool WriteIntervals(OptionWriter& options) const;
  bool WriteDropped(std::span<const tfrc::LossInterval> intervals, OptionWriter& options) const;
  AckDemand Require() {
    due_ = true;
    return AckDemand::Now();
  }

  tfrc::Profile profile_;
  tfrc::LossHistory history_;
  tfrc::LossAverage average_;
  ReceiveRateMeter meter_;
  ReceiverRtt rtt_;

  Seq64 greatest_;  // of all packets,
  Seq64 greatest_data_;
  std::uint64_t counter_ = 0;       // window counter of the latter, unwrapped
  std::uint64_t last_counter_ = 0;  // and what it was at the last feedback. RFC 4342 §10.3
  bool any_data_ = false;
  bool unreported_data_ = false;
  bool due_ = false;
  bool send_loss_event_rate_ = false;
  double p_ = 0;
  double reported_p_ = 0;
  TimePoint last_data_;
  TimePoint last_feedback_;
  TimePoint deadline_ = kNever;
  ReceiverStats stats_;
};

}  // namespace dccp::ccid3
