// The sending side of CCID 3, TCP-friendly rate control; by its profile also that of CCID 4.
// RFC 4342, RFC 5348, RFC 5622
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ccid/ccid3/reported_intervals.h"
#include "ccid/ccid3/window_counter.h"
#include "ccid/common/sequence_window.h"
#include "ccid/tfrc/data_limited.h"
#include "ccid/tfrc/loss_average.h"
#include "ccid/tfrc/profile.h"
#include "ccid/tfrc/rate_control.h"
#include "ccid/tfrc/round_trip.h"
#include "ccid/tfrc/segment_size.h"
#include "ccid/tfrc/send_schedule.h"
#include "ccid/tfrc/units.h"
#include "dccp/ccid.h"
#include "dccp/ccid3.h"

namespace dccp::ccid3 {

// Owns the nofeedback timer and wires the parts of TFRC together: what a feedback says becomes a
// round-trip time, a loss event rate and a receive rate, these a sending rate, and that a time for
// each packet. Promises that data leaves at no more than that rate, with bursts of at most a round
// trip's worth, that feedback updates everything before the rate is computed, and that no silence
// stops it for good. Nothing is allocated after construction; a packet costs O(1), a feedback the
// intervals it reports.
//
// The loss event rate is computed from Loss Intervals where the feedback has them, since Loss Event
// Rate is rounded to whole packets; from that where there is nothing else (Linux), or where an
// interval is longer than its field can say. A receiver that
// does not say Elapsed Time is taken to answer at once.
//
// ECN Nonce Echoes are not checked: packets are sent with ECT(0), whose nonce sum proves nothing
// (RFC 8311 gave ECT(1) another meaning).
class Ccid3Sender final : public CcidSender {
 public:
  Ccid3Sender(const CcidInit& init, const Ccid3Options& options, const tfrc::Profile& profile = {});

  SendPermit MaySend(std::uint32_t payload_bytes, TimePoint now) override;
  BuildDecision OnBuild(const BuildInfo& info, OptionWriter& options) override;
  void OnBuildSync(const BuildInfo& info, OptionWriter& options) override;
  void OnSent(const SentRun& run) override;
  CcidRequests OnFeedback(const Feedback& feedback) override;
  TimePoint NextTimeout() const override { return timeout_; }
  CcidRequests OnTimeout(TimePoint now) override;
  void OnAppState(AppState /*state*/, TimePoint /*now*/) override {}
  void OnPathInfo(const PathInfo& path, TimePoint now) override;
  void OnPathChange(TimePoint now) override;
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) override;
  SenderStats Stats() const override;

 private:
  // The options of a feedback packet.
  struct Report {
    std::optional<double> x_recv;
    std::optional<double> p;  // Loss Event Rate
    std::array<LossIntervalsView, 4> intervals = {};
    std::size_t interval_options = 0;
    std::array<DroppedPacketsView, 4> dropped = {};
    std::size_t dropped_options = 0;
    bool complete() const { return x_recv && (p || interval_options > 0); }
  };

  static Report Read(const Feedback& feedback);
  void OnFirstRtt(Duration rtt, TimePoint now);
  void NoteHarm(const Feedback& feedback);
  void NoteSendTime(const Feedback& feedback);
  void OnReport(const Report& report, const Feedback& feedback);
  std::size_t UpdateLoss(const Report& report, Seq64 acked);
  std::optional<double> DropLimit(double x_recv);
  CcidRequests Requests(TimePoint now);

  tfrc::RateControl::Path path() const {
    return {size_.mean(), rtt_.seconds(), Segment(), profile_.header_bytes};
  }
  // s of the throughput equation.
  double Segment() const;
  double LossEventRate(std::size_t new_events) {
    return average_.Rate(intervals_.Lengths(), new_events, intervals_.open_interval());
  }
  double FirstInterval() const;
  double InstantRate() const;
  double PacketInterval() const { return size_.mean() / InstantRate(); }
  Duration PacketDuration() const { return tfrc::FromSeconds(PacketInterval()); }
  void ArmTimer(TimePoint now);

  Ccid3Options options_;
  tfrc::Profile profile_;
  std::uint32_t mtu_bytes_;
  tfrc::RoundTrip rtt_;
  tfrc::SegmentSize size_;
  tfrc::RateControl rate_;
  tfrc::SendSchedule schedule_;
  tfrc::DataLimited data_limited_;
  tfrc::LossAverage average_;
  WindowCounter counter_;
  ReportedIntervals intervals_;
  SequenceWindowControl sequence_window_;

  TimePoint timeout_ = kNever;  // the nofeedback timer
  TimePoint last_data_;
  bool sent_since_timer_ = false;
  bool any_feedback_ = false;
  bool data_limited_now_ = false;  // over what the last feedback covers
  bool send_rtt_ = false;          // Send RTT Estimate
  bool acks_of_acks_ = false;  // the peer's acknowledgements have to be acknowledged. RFC 4342 §6.3
  bool peer_listens_ = true;   // false: Drop Code 1
  TimePoint last_ack_of_ack_ = TimePoint::min();
  Seq64 newest_acked_;                       // by a feedback packet
  TimePoint acked_sent_ = TimePoint::min();  // when the packet acknowledged last was sent
  double p_ = 0;
  double most_x_recv_ = 0;
  // Since the last feedback packet:
  std::uint32_t buffer_drops_ = 0;  // Drop Code 2
  bool slow_receiver_ = false;
  std::size_t added_events_ = 0;  // by ReportedIntervals::AddMark

  std::uint64_t loss_events_ = 0;
  std::uint64_t mark_events_ = 0;
  std::uint64_t timeouts_ = 0;
};

}  // namespace dccp::ccid3
