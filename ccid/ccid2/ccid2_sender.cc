#include "ccid/ccid2/ccid2_sender.h"

#include <algorithm>

namespace dccp::ccid2 {

Ccid2Sender::Ccid2Sender(const CcidInit& init, const Ccid2Options& options)
    : options_(options),
      packet_bytes_(init.path.mps_bytes),
      window_(InitialWindow(init.path.mps_bytes)),
      rtt_({.variance_floor = options.min_rto, .max_rto = options.max_rto}),
      ack_ratio_(init.ack_ratio, options.acks_per_window),
      sequence_window_(init.sequence_window),
      highest_sent_(init.next_seq - 1),
      recovery_point_(highest_sent_),
      limited_until_(highest_sent_),
      rtt_point_(highest_sent_),
      round_start_(highest_sent_),
      round_started_(init.now) {
  if (init.path.rtt > Duration::zero()) rtt_.OnSample(init.path.rtt);
  window_.ClampTo(WindowLimit());
}

SendPermit Ccid2Sender::MaySend(std::uint32_t /*payload_bytes*/, TimePoint now) {
  if (!peer_listens_) return SendPermit::Blocked();
  RestartAfterIdle(now);
  if (pipe_ >= window_.cwnd()) {
    limited_until_ = highest_sent_;
    return SendPermit::Blocked();
  }
  const std::uint32_t room = window_.cwnd() - pipe_;
  if (!options_.pacing) return SendPermit::Now(room);
  const Pacer::Release release = pacer_.Ask(now, PacingInterval());
  if (release.packets == 0) return SendPermit::At(release.at);
  return SendPermit::Now(std::min(room, release.packets));
}

BuildDecision Ccid2Sender::OnBuild(const BuildInfo& info, OptionWriter& /*options*/) {
  BuildDecision decision;
  if (HasAckNumber(info.type)) {
    data_since_ack_ = 0;
    return decision;
  }
  // The receiver must learn now and then that its Ack Vectors arrived, or it would repeat them back
  // to the start of the connection; once a window of data is enough. RFC 4341 §6.2
  ++data_since_ack_;
  decision.acknowledge = info.type == PacketType::kData && data_since_ack_ >= window_.cwnd();
  if (decision.acknowledge) data_since_ack_ = 0;
  return decision;
}

void Ccid2Sender::OnSent(const SentRun& run) {
  highest_sent_ = std::max(highest_sent_, run.first + (std::int64_t{run.packets} - 1));
  if (!run.data) {
    data_since_ack_ = 0;
    return;
  }
  if (pipe_ == 0) timeout_ = run.time + rtt_.rto();
  pipe_ += run.packets;
  last_data_sent_ = run.time;
  if (pipe_ >= window_.cwnd()) limited_until_ = highest_sent_;
  if (options_.pacing) pacer_.OnSent(run.packets, run.time, PacingInterval());
}

CcidRequests Ccid2Sender::OnFeedback(const Feedback& feedback) {
  const Digest digest = Read(feedback);
  UpdateRtt(feedback, digest);
  UpdatePipe(feedback, digest);
  UpdateWindow(feedback, digest);
  UpdateRound(feedback, digest);
  const CcidRequests requests = Requests(feedback.now);
  if (pipe_ == 0) timeout_ = IdleDeadline();
  return requests;
}

Ccid2Sender::Digest Ccid2Sender::Read(const Feedback& feedback) const {
  Digest digest;
  digest.newest = Seq64(0);
  for (const FateRun& run : feedback.runs) {
    if (run.packets == 0) continue;
    const Seq64 last = run.first + (std::int64_t{run.packets} - 1);
    if (run.fate != Fate::kLate) digest.left_pipe += run.data_packets;
    if (run.fate == Fate::kLost) {
      digest.lost |= run.data_packets > 0 && NewEvent(last);
      continue;
    }
    digest.progress = true;
    digest.newest = std::max(digest.newest, last);
    if (run.fate == Fate::kMarked) {
      digest.marked |= run.data_packets > 0 && NewEvent(last);
    } else if (run.fate == Fate::kReceived && run.first > recovery_point_ &&
               run.first <= limited_until_) {
      const std::int64_t while_limited = limited_until_ - run.first + 1;
      digest.growth +=
          static_cast<std::uint32_t>(std::min<std::int64_t>(run.data_packets, while_limited));
    }
  }
  return digest;
}

Ccid2Sender::DropDigest Ccid2Sender::ReadDrops(const Feedback& feedback) {
  DropDigest drops;
  for (const DataDroppedRun& run : feedback.data_dropped) {
    if (run.packets == 0) continue;
    switch (run.code) {
      case DropCode::kProtocolConstraints:
        // No congestion: as if received. Not "relevant" to slow start either, or a server that
        // does not take data on a Request would slow the whole connection.
        continue;
      case DropCode::kAppNotListening:
        peer_listens_ = false;
        break;
      case DropCode::kReceiveBuffer:
        drops.buffer_packets += run.packets;
        break;
      default:  // corruption and the reserved codes: as ECN marks
        drops.as_mark |= NewEvent(run.first + (std::int64_t{run.packets} - 1));
        break;
    }
    drops.relevant = true;
  }
  return drops;
}

void Ccid2Sender::UpdateRtt(const Feedback& feedback, const Digest& digest) {
  // At most one sample a window of data, else the smoothing would look back over a fraction of it.
  if (!digest.progress || digest.newest <= rtt_point_) return;
  if (!feedback.rtt || *feedback.rtt <= Duration::zero()) return;
  rtt_.OnSample(*feedback.rtt);
  rtt_point_ = highest_sent_;
}

void Ccid2Sender::UpdatePipe(const Feedback& feedback, const Digest& digest) {
  pipe_ -= std::min(pipe_, digest.left_pipe);
  // The connection's history is the authority: a packet that it follows no longer cannot come back.
  pipe_ = std::min(pipe_, feedback.in_flight_data_packets);
  if (pipe_ > 0 && digest.progress) {
    timeout_ = feedback.now + rtt_.rto();
  }
}

void Ccid2Sender::UpdateWindow(const Feedback& feedback, const Digest& digest) {
  const DropDigest drops = ReadDrops(feedback);
  // A nonce mismatch means that marks or losses may have been hidden. RFC 4340 §12.3
  const bool concealed = feedback.nonce == NonceVerdict::kMismatch && NewEvent(feedback.acked);
  const bool marked = digest.marked || concealed;
  if (feedback.slow_receiver) no_growth_until_ = feedback.now + rtt_.srtt_or_default();

  if (digest.lost || marked || drops.relevant) {
    // Each response is computed from the old window, and the smaller one holds. RFC 4340 §11.7.1
    const std::uint32_t by_network = digest.lost || marked ? window_.Halved() : window_.cwnd();
    const std::uint32_t by_receiver = drops.as_mark ? window_.Halved() : window_.cwnd();
    const std::uint32_t buffer = std::min(drops.buffer_packets, by_receiver - 1);
    window_.ReduceTo(std::min(by_network, by_receiver - buffer));
    if (digest.lost || marked || drops.as_mark) {
      recovery_point_ = highest_sent_;
      ++loss_events_;
      if (!digest.lost) ++mark_events_;
    }
  } else if (feedback.slow_receiver) {
    window_.LeaveSlowStart();
  } else if (feedback.now >= no_growth_until_) {
    window_.Grow(digest.growth, ack_ratio_.current(), WindowLimit());
  }
}

void Ccid2Sender::UpdateRound(const Feedback& feedback, const Digest& digest) {
  if (feedback.reverse_lost > 0 || feedback.reverse_marked > 0) ack_ratio_.OnReverseCongestion();
  if (!digest.progress || digest.newest <= round_start_) return;
  // Acknowledgements that are themselves acknowledged rarely make a round of many round trips.
  const std::int64_t rtts = (feedback.now - round_started_) / rtt_.srtt_or_default();
  packets_per_rtt_ =
      static_cast<std::uint64_t>((highest_sent_ - round_start_) / std::max<std::int64_t>(rtts, 1));
  round_start_ = highest_sent_;
  round_started_ = feedback.now;
  ack_ratio_.OnWindowEnd(window_.cwnd());
}

CcidRequests Ccid2Sender::Requests(TimePoint now) {
  CcidRequests requests;
  const Duration rtt = rtt_.srtt_or_default();
  const std::uint64_t used = std::min<std::uint64_t>(packets_per_rtt_, window_.cwnd());
  if (const auto ratio =
          ack_ratio_.Request(window_.cwnd(), static_cast<std::uint32_t>(used), now, rtt)) {
    requests.features[requests.feature_count++] = {FeatureNumber::kAckRatio, *ratio};
  }
  // Non-data packets use up sequence numbers too.
  const std::uint64_t packets = std::max<std::uint64_t>(packets_per_rtt_, window_.cwnd());
  if (const auto window = sequence_window_.Request(packets, now, rtt)) {
    requests.features[requests.feature_count++] = {FeatureNumber::kSequenceWindow, *window};
  }
  return requests;
}

CcidRequests Ccid2Sender::OnTimeout(TimePoint now) {
  if (now < timeout_) return {};
  if (pipe_ == 0) return OnIdle(now);
  ++timeouts_;
  window_.OnTimeout();
  rtt_.BackOff();
  pacer_.Reset();
  pipe_ = 0;
  timeout_ = kNever;
  // What is abandoned here was reacted to here; and any acknowledgement may end the back-off.
  recovery_point_ = highest_sent_;
  rtt_point_ = Seq64(0);
  CcidRequests requests = Requests(now);
  requests.abandon_in_flight = true;
  return requests;
}

CcidRequests Ccid2Sender::OnIdle(TimePoint now) {
  // The first window after the silence will be a small one: with the ratio of the large one before,
  // its acknowledgement would wait for the peer's delayed-acknowledgement timer, if it has one.
  timeout_ = kNever;
  packets_per_rtt_ = 0;
  RestartAfterIdle(now);
  CcidRequests requests;
  if (const auto ratio = ack_ratio_.Request(RestartWindow(), 0, now, rtt_.srtt_or_default())) {
    requests.features[requests.feature_count++] = {FeatureNumber::kAckRatio, *ratio};
  }
  return requests;
}

void Ccid2Sender::OnAppState(AppState /*state*/, TimePoint /*now*/) {
  // Whether the window is used is seen from pipe, and silence from the time of the last packet.
}

void Ccid2Sender::OnPathInfo(const PathInfo& path, TimePoint /*now*/) {
  packet_bytes_ = path.mps_bytes;
  if (!rtt_.has_sample() && path.rtt > Duration::zero()) rtt_.OnSample(path.rtt);
  if (last_data_sent_) return;  // a new packet size does not change a window in use. RFC 4341 §5.3
  window_ = CongestionWindow(InitialWindow(packet_bytes_));
  window_.ClampTo(WindowLimit());
}

void Ccid2Sender::OnPathChange(TimePoint now) {
  // pipe and its timer stay: the packets are still somewhere. What becomes of them tells nothing
  // about the new path.
  window_ = CongestionWindow(InitialWindow(packet_bytes_));
  window_.ClampTo(WindowLimit());
  rtt_.Reset();
  pacer_.Reset();
  recovery_point_ = limited_until_ = rtt_point_ = round_start_ = highest_sent_;
  round_started_ = now;
  packets_per_rtt_ = 0;
  no_growth_until_ = TimePoint::min();
}

void Ccid2Sender::OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) {
  if (feature == FeatureNumber::kAckRatio && located_here) {
    ack_ratio_.OnFeature(value);
  } else if (feature == FeatureNumber::kSequenceWindow && !located_here) {
    ack_ratio_.OnPeerSequenceWindow(value);
  } else if (feature == FeatureNumber::kSequenceWindow) {
    sequence_window_.OnFeature(value);
    window_.ClampTo(WindowLimit());
  }
}

SenderStats Ccid2Sender::Stats() const {
  SenderStats stats;
  stats.cwnd_packets = window_.cwnd();
  stats.ssthresh_packets = window_.ssthresh();
  stats.pipe_packets = pipe_;
  stats.srtt = rtt_.srtt();
  stats.rttvar = rtt_.rttvar();
  stats.min_rtt = rtt_.min_rtt();
  stats.rto = rtt_.rto();
  stats.loss_events = loss_events_;
  stats.mark_events = mark_events_;
  stats.timeouts = timeouts_;
  stats.ack_ratio = ack_ratio_.current();
  return stats;
}

std::uint32_t Ccid2Sender::WindowLimit() const {
  return std::max(1u, std::min(options_.max_cwnd_packets, sequence_window_.FlightLimit()));
}

std::uint32_t Ccid2Sender::RestartWindow() const {
  return std::min({InitialWindow(packet_bytes_), WindowLimit(), window_.cwnd()});
}

TimePoint Ccid2Sender::IdleDeadline() const {
  if (!last_data_sent_ || ack_ratio_.asked() <= AckRatioControl::MaxFor(RestartWindow())) {
    return kNever;
  }
  return *last_data_sent_ + rtt_.rto();
}

Duration Ccid2Sender::PacingInterval() const {
  if (!rtt_.has_sample()) return Duration::zero();
  // A little faster than a window a round trip, or the window would never be full and never grow;
  // in slow start fast enough for the window that it is about to become.
  const std::int64_t cwnd = window_.cwnd();
  return window_.in_slow_start() ? rtt_.srtt() / (2 * cwnd) : 4 * rtt_.srtt() / (5 * cwnd);
}

void Ccid2Sender::RestartAfterIdle(TimePoint now) {
  if (pipe_ > 0 || !last_data_sent_) return;
  const std::int64_t periods = (now - *last_data_sent_) / rtt_.rto();
  if (periods <= 0) return;
  window_.OnIdle(periods, RestartWindow());
  pacer_.Reset();
  *last_data_sent_ += periods * rtt_.rto();
}

}  // namespace dccp::ccid2
