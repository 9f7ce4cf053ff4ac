// The sending side of CCID 2, TCP-like congestion control. RFC 4341
#pragma once

#include <cstdint>
#include <optional>

#include "ccid/ccid2/ack_ratio.h"
#include "ccid/ccid2/congestion_window.h"
#include "ccid/common/pacer.h"
#include "ccid/common/rtt_estimator.h"
#include "ccid/common/sequence_window.h"
#include "dccp/ccid.h"
#include "dccp/ccid2.h"

namespace dccp::ccid2 {

// Owns pipe and the timeout, and wires the window, the RTT estimator, Ack Ratio and Sequence Window
// control together. Promises that data is permitted only while pipe < cwnd, that pipe falls once
// for each data packet and never for others, and that one window of data reduces cwnd once. Nothing
// is allocated after construction; a packet costs O(1), a feedback O(its runs). RFC 4341 §5, §6.1
//
// Idle and application-limited periods follow RFC 2861, the one that RFC 4341 §5.1 describes beside
// RFC 2581, and not its successor RFC 7661: CCID 2 waits for explicit updates (RFC 4341 §3.1).
// Silence halves cwnd once a timeout, not below the initial window, and raises ssthresh to three
// quarters of the old cwnd. While the application sends less than cwnd allows the window does not
// grow, but it is kept: a flow that still sends is still told of congestion.
class Ccid2Sender final : public CcidSender {
 public:
  Ccid2Sender(const CcidInit& init, const Ccid2Options& options);

  SendPermit MaySend(std::uint32_t payload_bytes, TimePoint now) override;
  BuildDecision OnBuild(const BuildInfo& info, OptionWriter& options) override;
  void OnSent(const SentRun& run) override;
  CcidRequests OnFeedback(const Feedback& feedback) override;
  TimePoint NextTimeout() const override { return timeout_; }
  CcidRequests OnTimeout(TimePoint now) override;
  void OnAppState(AppState state, TimePoint now) override;
  void OnPathInfo(const PathInfo& path, TimePoint now) override;
  void OnPathChange(TimePoint now) override;
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) override;
  SenderStats Stats() const override;

 private:
  // What the runs of one feedback amount to.
  struct Digest {
    std::uint32_t left_pipe = 0;  // data packets that left the network
    std::uint32_t growth = 0;     // data packets that may open the window
    bool lost = false;            // a loss, or
    bool marked = false;          // a mark, that belongs to no event reacted to before
    bool progress = false;        // some packet was newly acknowledged
    Seq64 newest;                 // the newest of them
  };
  // What the newly reported Data Dropped states amount to. RFC 4340 §11.7.2
  struct DropDigest {
    bool relevant = false;
    bool as_mark = false;              // to be taken as an ECN mark of no earlier event
    std::uint32_t buffer_packets = 0;  // Drop Code 2
  };

  Digest Read(const Feedback& feedback) const;
  DropDigest ReadDrops(const Feedback& feedback);
  void UpdateRtt(const Feedback& feedback, const Digest& digest);
  void UpdatePipe(const Feedback& feedback, const Digest& digest);
  void UpdateWindow(const Feedback& feedback, const Digest& digest);
  void UpdateRound(const Feedback& feedback, const Digest& digest);
  CcidRequests Requests(TimePoint now);
  CcidRequests OnIdle(TimePoint now);

  bool NewEvent(Seq64 last_of_run) const { return last_of_run > recovery_point_; }
  std::uint32_t WindowLimit() const;
  Duration PacingInterval() const;
  std::uint32_t RestartWindow() const;
  // While nothing is in flight: when to look whether the silence calls for another Ack Ratio.
  TimePoint IdleDeadline() const;
  void RestartAfterIdle(TimePoint now);

  Ccid2Options options_;
  std::uint32_t packet_bytes_;
  CongestionWindow window_;
  RttEstimator rtt_;
  AckRatioControl ack_ratio_;
  SequenceWindowControl sequence_window_;
  Pacer pacer_;

  std::uint32_t pipe_ = 0;
  Seq64 highest_sent_;
  // Losses and marks of packets up to here belong to the last congestion event, and their
  // acknowledgements do not open the window: that window of data was not free of loss.
  Seq64 recovery_point_;
  // The newest packet sent when the window was full. Only packets up to here can open the window.
  Seq64 limited_until_;
  Seq64 rtt_point_;    // the next RTT sample is of a packet beyond this
  Seq64 round_start_;  // a window of data ends when a packet beyond this is acknowledged
  TimePoint round_started_;
  std::uint64_t packets_per_rtt_ = 0;  // of any kind, in the last round

  TimePoint timeout_ = kNever;                    // the RTO while pipe_ > 0, else IdleDeadline()
  TimePoint no_growth_until_ = TimePoint::min();  // Slow Receiver. RFC 4340 §11.6
  std::optional<TimePoint> last_data_sent_;
  std::uint32_t data_since_ack_ = 0;  // data packets sent since a packet that acknowledged
  bool peer_listens_ = true;          // false: Drop Code 1, no data will ever be delivered again

  std::uint64_t loss_events_ = 0;
  std::uint64_t mark_events_ = 0;
  std::uint64_t timeouts_ = 0;
};

}  // namespace dccp::ccid2
