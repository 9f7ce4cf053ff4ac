#include "ccid/ccid3/ccid3_receiver.h"

#include <algorithm>
#include <cmath>

#include "ccid/ccid3/options.h"
#include "ccid/common/tfrc_equation.h"
#include "stack/wire/option_codec.h"

namespace dccp::ccid3 {
namespace {

std::uint32_t Saturate(double value) {
  return static_cast<std::uint32_t>(std::clamp(std::round(value), 0.0, double{kMax24}));
}

}  // namespace

Ccid3Receiver::Ccid3Receiver(const CcidInit& init, const Ccid3Options& options,
                             const tfrc::Profile& profile)
    : profile_(profile),
      history_(init.last_received + 1),
      average_(options.history_discounting ? tfrc::HistoryDiscounting::kOn
                                           : tfrc::HistoryDiscounting::kOff),
      rtt_(init.path.rtt),
      greatest_(init.last_received),
      greatest_data_(init.last_received),
      last_data_(init.now),
      last_feedback_(init.now) {}

ReceiverVerdict Ccid3Receiver::OnPackets(const ArrivedRun& run) {
  if (run.packets == 0) return {};
  if (auto reset = ReadOptions(run)) return {AckDemand::None(), reset};
  const TimePoint now = run.arrival;
  const bool first = run.data && !any_data_;
  const bool full_round = CountsUp(run);
  if (run.data) {
    any_data_ = unreported_data_ = true;
    last_data_ = now;
    meter_.OnData(run.packets, run.payload_bytes, now);
    stats_.packets += run.packets;
    if (run.ecn == Ecn::kCe) stats_.marked += run.packets;
  }
  greatest_ = std::max(greatest_, run.first + (std::int64_t{run.packets} - 1));
  const bool more_loss = OnLoss(Record(run), now);
  if (first || full_round || more_loss) return {Require(), std::nullopt};
  if (run.data && deadline_ == kNever) {
    // A quarter later than a packet would draw it: as long as data flows the counters decide.
    const Duration rtt = rtt_.value();
    deadline_ = std::max(now, last_feedback_ + rtt + rtt / 4);
  }
  return {};
}

std::optional<ResetReason> Ccid3Receiver::ReadOptions(const ArrivedRun& run) {
  if (!rtt_.reported_on()) return std::nullopt;
  for (const RawOption& option : run.options) {
    if (option.type != kSenderRttEstimate) continue;
    const auto estimate = DecodeRttEstimate(option.data);
    if (!estimate) {
      // The option's first three bytes. RFC 6323 §3.3
      ResetReason reset{ResetCode::kOptionError, {}};
      reset.data[0] = static_cast<std::uint8_t>(option.type);
      reset.data[1] = static_cast<std::uint8_t>(option.data.size() + 2);
      if (!option.data.empty()) reset.data[2] = std::to_integer<std::uint8_t>(option.data[0]);
      return reset;
    }
    rtt_.OnReport(*estimate, run.arrival);
  }
  return std::nullopt;
}

tfrc::LossHistory::Outcome Ccid3Receiver::Record(const ArrivedRun& run) {
  tfrc::LossHistory::Outcome sum;
  for (std::uint32_t i = 0; i < run.packets; ++i) {
    tfrc::ArrivedPacket packet;
    packet.seq = run.first + i;
    packet.time = run.arrival;
    packet.ndp = i == 0 ? run.ndp.value_or(0) : 0;
    packet.ccval = run.ccval;
    packet.data = run.data;
    packet.marked = run.ecn == Ecn::kCe;
    packet.nonce = run.ecn == Ecn::kEct1;
    const auto outcome = history_.OnArrival(packet, {rtt_.reported()});
    sum.new_events += outcome.new_events;
    sum.removed_event |= outcome.removed_event;
    sum.first_event |= outcome.first_event;
  }
  return sum;
}

// True when a round trip has passed since the last feedback. RFC 4342 §10.3
bool Ccid3Receiver::CountsUp(const ArrivedRun& run) {
  if (!run.data) return false;
  const Seq64 last = run.first + (std::int64_t{run.packets} - 1);
  if (any_data_ && last <= greatest_data_) return false;
  greatest_data_ = last;
  counter_ += (std::uint64_t{run.ccval} - counter_) & 15u;
  if (!any_data_) last_counter_ = counter_;
  rtt_.OnCounter(counter_, run.arrival);
  if (rtt_.reported_on()) return run.arrival - last_feedback_ >= rtt_.value();
  constexpr std::uint64_t kRoundTrip = 4;
  return counter_ - last_counter_ >= kRoundTrip;
}

bool Ccid3Receiver::OnLoss(const tfrc::LossHistory::Outcome& outcome, TimePoint now) {
  if (outcome.new_events == 0 && !outcome.removed_event) return false;
  if (outcome.first_event) history_.SetFirstInterval(FirstInterval(now));
  UpdateRate(outcome.new_events);
  return p_ > reported_p_ || outcome.removed_event;
}

// How long the interval before the first loss would have been at the rate that was reached.
// RFC 5348 §6.3.1
double Ccid3Receiver::FirstInterval(TimePoint now) const {
  constexpr double kLeastPackets = 0.5;  // a round trip
  double packets = kLeastPackets;
  if (!history_.first_data_packet_lost()) {
    const Duration rtt = rtt_.value();
    const double x = std::max(meter_.most_reported(), meter_.Peek(now, rtt));
    const double segment =
        profile_.nominal_bytes > 0 ? profile_.nominal_bytes : meter_.mean_payload();
    packets = std::max(packets, x * tfrc::Seconds(rtt) / segment);
  }
  return 1 / TfrcLossEventRate(packets);
}

void Ccid3Receiver::UpdateRate(std::size_t new_events) {
  Intervals intervals;
  std::array<double, kReportedIntervals> lengths;
  const std::size_t n = history_.Intervals(intervals);
  for (std::size_t i = 0; i < n; ++i) {
    lengths[i] = intervals[i].data;
    if (IsShort(intervals[i])) lengths[i] /= static_cast<double>(intervals[i].lost);
  }
  const bool open_short = n > 0 && IsShort(intervals[0]);
  p_ = average_.Rate(std::span(lengths).first(n), new_events,
                     open_short ? tfrc::OpenInterval::kTooShort : tfrc::OpenInterval::kMayCount);
}

// Counts by lost packets, since it lasts for two round trips at most. RFC 5622 §8.4
bool Ccid3Receiver::IsShort(const tfrc::LossInterval& interval) const {
  return profile_.short_intervals && interval.lost > 0 &&
         interval.counters <= tfrc::kShortIntervalCounters;
}

std::size_t Ccid3Receiver::AckOptionBytes() const {
  if (!due_) return 0;
  const std::size_t dropped =
      profile_.short_intervals ? DroppedPacketsBytes(kReportedIntervals) : 0;
  return kReceiveRateBytes + kLossEventRateBytes + LossIntervalsBytes(kReportedIntervals) + dropped;
}

void Ccid3Receiver::OnBuildAck(const BuildInfo& info, OptionWriter& options) {
  if (!any_data_ || (!due_ && info.type != PacketType::kAck)) return;
  if (!due_ && !unreported_data_) return;
  if (!WriteFeedback(info.now, options)) {
    // There was no room: the next acknowledgement shall carry it.
    deadline_ = info.now + rtt_.value() / 8;
    return;
  }
  due_ = false;
  unreported_data_ = false;
  deadline_ = kNever;
  last_feedback_ = info.now;
  last_counter_ = counter_;
  reported_p_ = p_;
}

bool Ccid3Receiver::WriteFeedback(TimePoint now, OptionWriter& options) {
  UpdateRate(0);
  const std::size_t before = options.size();
  const bool fits = (!send_loss_event_rate_ || AddLossEventRate(options, p_)) &&
                    options.remaining() >= kReceiveRateBytes && WriteIntervals(options) &&
                    options.remaining() >= kReceiveRateBytes;
  if (!fits) {
    options.Rewind(before);
    return false;
  }
  stats_.x_recv_bytes_per_second = meter_.Report(now, rtt_.value());
  return AddReceiveRate(options, stats_.x_recv_bytes_per_second);
}

bool Ccid3Receiver::WriteIntervals(OptionWriter& options) const {
  Intervals intervals;
  const std::size_t n = history_.Intervals(intervals);
  // What is still open may be more than the option can leave out where holes follow each other
  // closely: then the rest counts as the newest lossless part, but not as data. RFC 4342 §8.6.1
  const auto open = static_cast<std::uint64_t>(greatest_ - history_.next() + 1);
  const std::uint64_t skip = std::min<std::uint64_t>(open, kMaxSkip);
  intervals[0].lossless += open - skip;
  std::array<WireInterval, kReportedIntervals> wire;
  for (std::size_t i = 0; i < n; ++i) {
    wire[i].lossless =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(intervals[i].lossless, kMax24));
    wire[i].loss =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(intervals[i].lossy, kMax24 / 2));
    wire[i].data = Saturate(intervals[i].data);
    wire[i].nonce_echo = intervals[i].nonce_echo;
  }
  if (!AddLossIntervals(options, static_cast<std::uint32_t>(skip), std::span(wire).first(n)))
    return false;
  return !profile_.short_intervals || WriteDropped(std::span(intervals).first(n), options);
}

// For exactly the intervals of the Loss Intervals option. RFC 5622 §8.7
bool Ccid3Receiver::WriteDropped(std::span<const tfrc::LossInterval> intervals,
                                 OptionWriter& options) const {
  std::array<std::uint32_t, kReportedIntervals> counts;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::uint64_t lost = std::min(intervals[i].lost, intervals[i].lossy);
    counts[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, kMax24));
  }
  return AddDroppedPackets(options, std::span(counts).first(intervals.size()));
}

AckDemand Ccid3Receiver::OnTimeout(TimePoint now) {
  if (now < deadline_) return AckDemand::None();
  deadline_ = kNever;
  if (!unreported_data_ && !due_) return AckDemand::None();
  return Require();
}

bool Ccid3Receiver::PeerQuiescent(TimePoint now) const {
  // RFC 4342 §6.4
  return now - last_data_ >= std::max<Duration>(std::chrono::milliseconds(200), 2 * rtt_.value());
}

void Ccid3Receiver::OnPathInfo(const PathInfo& path, TimePoint /*now*/) {
  if (path.rtt > Duration::zero()) rtt_.OnHandshake(path.rtt);
}

void Ccid3Receiver::OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) {
  if (feature == FeatureNumber::kSendLossEventRate && located_here) {
    send_loss_event_rate_ = value != 0;
  } else if (feature == FeatureNumber::kSendRttEstimate && !located_here) {
    rtt_.SetReported(value != 0);
  }
}

ReceiverStats Ccid3Receiver::Stats() const {
  ReceiverStats stats = stats_;
  stats.loss_event_rate = p_;
  stats.rtt = rtt_.value();
  return stats;
}

}  // namespace dccp::ccid3
