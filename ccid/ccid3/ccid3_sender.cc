#include "ccid/ccid3/ccid3_sender.h"

#include <algorithm>
#include <utility>

#include "ccid/common/tfrc_equation.h"
#include "ccid/tfrc/units.h"

namespace dccp::ccid3 {

Ccid3Sender::Ccid3Sender(const CcidInit& init, const Ccid3Options& options,
                         const tfrc::Profile& profile)
    : options_(options),
      profile_(profile),
      mtu_bytes_(init.path.mtu_bytes),
      schedule_({options.granularity, options.max_credit, profile.min_interval}),
      average_(options.history_discounting ? tfrc::HistoryDiscounting::kOn
                                           : tfrc::HistoryDiscounting::kOff),
      intervals_(init.next_seq),
      sequence_window_(init.sequence_window) {
  // The handshake gives a first round trip. RFC 4342 §5
  if (init.path.rtt > Duration::zero()) rtt_.OnSample(init.path.rtt);
}

// ----------------------------------------------------------------------------------- sending ----

SendPermit Ccid3Sender::MaySend(std::uint32_t payload_bytes, TimePoint now) {
  if (!peer_listens_) return SendPermit::Blocked();
  size_.Expect(payload_bytes);
  if (!rate_.started()) rate_.Start(path(), now);
  const SendPermit permit = schedule_.Ask(now, PacketInterval(), rtt_.smoothed());
  if (permit.kind != SendPermit::Kind::kNow) data_limited_.OnUsedUp(now);
  return permit;
}

BuildDecision Ccid3Sender::OnBuild(const BuildInfo& info, OptionWriter& options) {
  const Duration rtt = rtt_.has_sample() ? rtt_.smoothed() : kDefaultRtt;
  BuildDecision decision;
  decision.ccval = static_cast<std::uint8_t>(counter_.Next(info.seq, info.now, rtt) & 15u);
  if (send_rtt_) AddRttEstimate(options, RttEstimate::Of(rtt_.smoothed()));
  if (HasAckNumber(info.type)) {
    last_ack_of_ack_ = info.now;
  } else if (acks_of_acks_ &&
             (last_ack_of_ack_ == TimePoint::min() || info.now - last_ack_of_ack_ >= rtt)) {
    decision.acknowledge = true;
    last_ack_of_ack_ = info.now;
  }
  return decision;
}

void Ccid3Sender::OnBuildSync(const BuildInfo& /*info*/, OptionWriter& options) {
  if (send_rtt_) AddRttEstimate(options, RttEstimate::Of(rtt_.smoothed()));
}

void Ccid3Sender::OnSent(const SentRun& run) {
  if (!run.data || run.packets == 0) return;
  size_.OnSent(run.packets, run.payload_bytes);
  if (!rate_.started()) rate_.Start(path(), run.time);
  // With credit a packet may leave sooner than its rate allows; the rate is used up all the same.
  if (profile_.min_interval > Duration::zero() && run.time - last_data_ < PacketDuration())
    data_limited_.OnUsedUp(run.time);
  last_data_ = run.time;
  schedule_.OnSent(run.packets, run.time, PacketInterval(), rtt_.smoothed());
  if (timeout_ == kNever) ArmTimer(run.time);
  sent_since_timer_ = true;
}

double Ccid3Sender::InstantRate() const {
  double x = rate_.x();
  // Slow start may double the rate each round trip until a packet is lost. Where the round trip
  // already grows the path is full, and twice its rate would lose half of what is sent for a round
  // trip and more: several loss events instead of one, of which a long fat path recovers only after
  // minutes. X itself is not touched, nor an application held to what it happened to send. A
  // receiver may report 0 of the first packets: the initial rate is always good.
  // RFC 5348 §4.2, §4.3, §4.5
  constexpr double kGentle = 1.125;
  if (p_ <= 0 && !data_limited_now_ && rtt_.queue_builds())
    x = std::min(x, std::max(kGentle * rate_.x_recv(), tfrc::RateControl::InitialRate(path())));
  if (options_.oscillation_damping) x *= rtt_.damping();
  if (options_.max_rate_bytes_per_second > 0)
    x = std::min(x, static_cast<double>(options_.max_rate_bytes_per_second));
  // The peer accepts only so many numbers ahead until it confirms a larger window.
  if (rtt_.has_sample())
    x = std::min(x, sequence_window_.FlightLimit() * size_.mean() / rtt_.seconds());
  return std::max(x, size_.mean() / tfrc::kMaxBackOffSeconds);
}

// ---------------------------------------------------------------------------------- feedback ----

CcidRequests Ccid3Sender::OnFeedback(const Feedback& feedback) {
  NoteSendTime(feedback);
  const Report report = Read(feedback);
  // What a newer feedback has overtaken says nothing new.
  if (!report.complete() || feedback.acked < newest_acked_) {
    if (!rtt_.has_sample() && feedback.rtt) OnFirstRtt(*feedback.rtt, feedback.now);
    NoteHarm(feedback);
    return {};
  }
  if (feedback.rtt) {
    if (rtt_.has_sample()) {
      rtt_.OnSample(*feedback.rtt);
    } else {
      OnFirstRtt(*feedback.rtt, feedback.now);
    }
  }
  newest_acked_ = feedback.acked;
  counter_.OnAcked(feedback.acked);
  OnReport(report, feedback);
  any_feedback_ = true;
  ArmTimer(feedback.now);
  return Requests(feedback.now);
}

Ccid3Sender::Report Ccid3Sender::Read(const Feedback& feedback) {
  Report report;
  for (const RawOption& option : feedback.options) {
    if (option.type == kReceiveRate) {
      if (const auto x = DecodeReceiveRate(option.data)) report.x_recv = x;
    } else if (option.type == kLossEventRate) {
      if (const auto p = DecodeLossEventRate(option.data)) report.p = p;
    } else if (option.type == kLossIntervals && report.interval_options < report.intervals.size()) {
      if (const auto view = DecodeLossIntervals(option.data))
        report.intervals[report.interval_options++] = *view;
    } else if (option.type == kDroppedPackets && report.dropped_options < report.dropped.size()) {
      if (const auto view = DecodeDroppedPackets(option.data))
        report.dropped[report.dropped_options++] = *view;
    }
  }
  return report;
}

void Ccid3Sender::OnFirstRtt(Duration rtt, TimePoint now) {
  rtt_.OnSample(rtt);
  if (rate_.started()) rate_.OnFirstRtt(path(), now);
}

// When the acknowledged packet was sent; where it was acknowledged before the last answer holds.
void Ccid3Sender::NoteSendTime(const Feedback& feedback) {
  if (feedback.runs.empty()) return;
  const FateRun& run = feedback.runs.back();
  if (run.packets > 0 && run.first + (std::int64_t{run.packets} - 1) == feedback.acked)
    acked_sent_ = run.sent_last;
}

// What happened to data at the receiver's host. RFC 4342 §5.2, RFC 4340 §11.7.2
void Ccid3Sender::NoteHarm(const Feedback& feedback) {
  slow_receiver_ |= feedback.slow_receiver;
  for (const DataDroppedRun& run : feedback.data_dropped) {
    acks_of_acks_ = true;
    switch (run.code) {
      case DropCode::kProtocolConstraints:
        break;
      case DropCode::kAppNotListening:
        peer_listens_ = false;
        break;
      case DropCode::kReceiveBuffer:
        buffer_drops_ += run.packets;
        break;
      default:  // corruption and the reserved codes: as ECN marks
        if (run.packets > 0 && intervals_.AddMark(run.first, counter_, FirstInterval())) {
          ++added_events_;
          ++mark_events_;
        }
        break;
    }
  }
}

void Ccid3Sender::OnReport(const Report& report, const Feedback& feedback) {
  most_x_recv_ = std::max(most_x_recv_, *report.x_recv);
  const double old_p = p_;
  const std::size_t new_events = UpdateLoss(report, feedback.acked);
  NoteHarm(feedback);
  if (std::exchange(added_events_, 0) > 0) p_ = LossEventRate(1);
  const bool more_loss = new_events > 0 || p_ > old_p;
  if (more_loss || p_ <= 0) size_.EndPeriod();

  tfrc::RateControl::Report update;
  update.now = feedback.now;
  update.p = p_;
  update.x_recv = *report.x_recv;
  update.more_loss = more_loss;
  update.data_limited = data_limited_.OnFeedback(acked_sent_, rtt_.smoothed());
  data_limited_now_ = update.data_limited;
  const std::uint32_t drops = buffer_drops_;
  update.x_drop = DropLimit(*report.x_recv);
  rate_.OnFeedback(update, path());
  if (drops > 0 && rtt_.has_sample()) {
    const double packet = size_.mean() / rtt_.seconds();
    rate_.Reduce(drops * packet, packet);
  }
}

// The loss event rate that the feedback tells. Returns how many loss events are new.
std::size_t Ccid3Sender::UpdateLoss(const Report& report, Seq64 acked) {
  if (report.interval_options == 0) {
    const bool more = *report.p > p_;
    p_ = std::min(*report.p, 1.0);
    if (more) ++loss_events_;
    return more ? 1 : 0;
  }
  const auto options = std::span(report.intervals).first(report.interval_options);
  const auto dropped = std::span(report.dropped).first(report.dropped_options);
  const std::size_t new_events = profile_.short_intervals
                                     ? intervals_.Update(acked, options, dropped, counter_)
                                     : intervals_.Update(acked, options);
  loss_events_ += new_events;
  p_ = LossEventRate(new_events);
  // Data Length has 24 bits. Where one of them is full the receiver's own result says more.
  const std::span<const double> lengths = intervals_.Lengths();
  const bool full =
      std::any_of(lengths.begin(), lengths.end(), [](double l) { return l >= double{kMax24}; });
  if (full && report.p && *report.p > 0) p_ = std::min(p_, *report.p);
  return new_events;
}

// X_drop. RFC 4342 §5.2
std::optional<double> Ccid3Sender::DropLimit(double x_recv) {
  std::optional<double> limit;
  if (std::exchange(slow_receiver_, false)) limit = x_recv;
  const std::uint32_t drops = std::exchange(buffer_drops_, 0u);
  if (drops > 0 && rtt_.has_sample()) {
    const double packet = size_.mean() / rtt_.seconds();
    const double reduced = std::max(x_recv - drops * packet, std::min(x_recv, packet));
    limit = std::min(limit.value_or(reduced), reduced);
  }
  return limit;
}

// RFC 4828 §3
double Ccid3Sender::Segment() const {
  // Headers of a TCP segment, which the equation stands for.
  constexpr std::uint32_t kTcpHeaders = 40;
  if (profile_.nominal_bytes <= 0) return size_.mean();
  if (mtu_bytes_ <= kTcpHeaders) return profile_.nominal_bytes;
  return std::min(profile_.nominal_bytes, static_cast<double>(mtu_bytes_ - kTcpHeaders));
}

// As a receiver would take it. RFC 5348 §6.3.1
double Ccid3Sender::FirstInterval() const {
  const double packets = most_x_recv_ * rtt_.seconds() / Segment();
  return std::min(1 / TfrcLossEventRate(std::max(packets, 0.5)), double{kMax24});
}

CcidRequests Ccid3Sender::Requests(TimePoint now) {
  CcidRequests requests;
  if (!rtt_.has_sample()) return requests;
  // In slow start the rate may double before the peer has confirmed.
  const double ahead = p_ > 0 ? 1 : 2;
  constexpr double kMostPackets = 1e12;
  const double packets = std::min(ahead * rate_.x() * rtt_.seconds() / size_.mean(), kMostPackets);
  if (const auto window =
          sequence_window_.Request(static_cast<std::uint64_t>(packets) + 1, now, rtt_.smoothed())) {
    requests.features[requests.feature_count++] = {FeatureNumber::kSequenceWindow, *window};
  }
  return requests;
}

// ------------------------------------------------------------------------------------- timer ----

void Ccid3Sender::ArmTimer(TimePoint now) {
  double rto = std::max(4 * rtt_.seconds(), 2 * size_.mean() / rate_.x());
  // The first feedback may take two seconds, whatever the handshake measured. RFC 5348 §4.2
  constexpr double kFirst = 2;
  if (!any_feedback_ && timeouts_ == 0) rto = std::max(rto, kFirst);
  timeout_ = now + std::max(tfrc::FromSeconds(rto), options_.min_nofeedback);
  sent_since_timer_ = false;
}

CcidRequests Ccid3Sender::OnTimeout(TimePoint now) {
  if (now < timeout_) return {};
  using Since = tfrc::RateControl::Since;
  const Since since = sent_since_timer_ ? Since::kSent : Since::kIdle;
  const bool changed = rate_.OnNoFeedback(since, any_feedback_, path(), now);
  CcidRequests requests;
  if (since == Since::kSent) {
    ++timeouts_;
    requests.abandon_in_flight = true;
  }
  if (changed) {
    ArmTimer(now);
  } else {
    timeout_ = kNever;  // the next packet starts it again
  }
  return requests;
}

// ------------------------------------------------------------------------------ circumstances ----

void Ccid3Sender::OnPathInfo(const PathInfo& path_info, TimePoint now) {
  mtu_bytes_ = path_info.mtu_bytes;
  if (!rtt_.has_sample() && path_info.rtt > Duration::zero()) OnFirstRtt(path_info.rtt, now);
}

void Ccid3Sender::OnPathChange(TimePoint now) {
  rtt_ = {};
  rate_ = {};
  schedule_.Reset();
  data_limited_ = {};
  average_.Reset();
  p_ = most_x_recv_ = 0;
  any_feedback_ = false;
  if (timeout_ != kNever) ArmTimer(now);
}

void Ccid3Sender::OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) {
  if (feature == FeatureNumber::kSendRttEstimate && located_here) {
    send_rtt_ = value != 0;
  } else if (feature == FeatureNumber::kSendAckVector && !located_here) {
    acks_of_acks_ = value != 0;
  } else if (feature == FeatureNumber::kSequenceWindow && located_here) {
    sequence_window_.OnFeature(value);
  }
}

SenderStats Ccid3Sender::Stats() const {
  SenderStats stats;
  stats.srtt = rtt_.smoothed();
  stats.min_rtt = rtt_.min();
  stats.rto = tfrc::FromSeconds(std::max(4 * rtt_.seconds(), 2 * PacketInterval()));
  stats.x_bytes_per_second = rate_.x();
  stats.loss_event_rate = p_;
  stats.loss_events = loss_events_;
  stats.mark_events = mark_events_;
  stats.timeouts = timeouts_;
  return stats;
}

}  // namespace dccp::ccid3
