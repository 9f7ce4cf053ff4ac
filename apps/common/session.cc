#include "apps/common/session.h"

#include <algorithm>
#include <array>

#include "apps/common/cpu_clock.h"

namespace dccp::apps {

namespace {

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
double Milliseconds(Duration d) { return Seconds(d) * 1000; }

}  // namespace

Session::Session(Runtime* runtime, ConnId conn, const SessionConfig& config)
    : runtime_(runtime), conn_(conn), config_(config) {
  Refresh();
}

Session::~Session() { runtime_->endpoint().Release(conn_, runtime_->now()); }

void Session::Refresh() {
  if (const Result<ConnectionInfo> info = runtime_->endpoint().Info(conn_)) info_ = *info;
}

Session::Snapshot Session::Take() {
  Refresh();
  return {runtime_->now(), ProcessCpuTime(), info_.counters, meter_};
}

void Session::Open() {
  open_ = true;
  base_ = last_interval_ = Take();
  opened_ = base_.time;
}

void Session::Omit() {
  base_ = Take();
  rtt_samples_ = 0;
  rtt_sum_ms_ = rtt_max_ms_ = 0;
}

void Session::Read() {
  std::array<ReceivedDatagram, 64> batch;
  Endpoint& endpoint = runtime_->endpoint();
  while (const std::size_t n = endpoint.Read(conn_, batch)) {
    for (std::size_t i = 0; i < n; ++i) {
      const ReceivedDatagram& datagram = batch[i];
      // The receiving end asks whether we still live.
      if (config_.sending && datagram.bytes.empty()) continue;
      meter_.Add(datagram);
      if (config_.sink != nullptr && !config_.sink->Write(datagram.bytes)) ++sink_drops_;
      if (config_.received_hashes != nullptr) config_.received_hashes->Add(datagram.bytes);
      if (config_.echo && !endpoint.Send(conn_, datagram.bytes)) ++echo_drops_;
    }
  }
  if (config_.sink != nullptr) config_.sink->Kick();
}

std::uint64_t Session::Packets(const Snapshot& s) const {
  return config_.sending ? s.counters.data_packets_sent : s.meter.packets();
}

std::uint64_t Session::Bytes(const Snapshot& s) const {
  return config_.sending ? s.counters.data_bytes_sent : s.meter.bytes();
}

std::uint64_t Session::LostBefore() const {
  return config_.sending ? base_.counters.data_packets_lost : base_.meter.lost().value_or(0);
}

// Of what we sent. Only an Ack Vector tells of each packet; Loss Intervals say where losses lie,
// not how many they are.
std::optional<std::uint64_t> Session::LostSince(const Snapshot& before, const Snapshot& now) const {
  const auto vectors =
      runtime_->endpoint().Feature(conn_, FeatureNumber::kSendAckVector, /*located_here=*/false);
  if (!vectors || *vectors == 0) return std::nullopt;
  return now.counters.data_packets_lost - before.counters.data_packets_lost;
}

IntervalReport Session::TakeInterval(bool omitted) {
  const Snapshot now = stop_ ? *stop_ : Take();
  const Snapshot& before = last_interval_;
  IntervalReport r;
  r.start_s = Seconds(before.time - opened_);
  r.end_s = Seconds(now.time - opened_);
  r.packets = Packets(now) - Packets(before);
  r.bytes = Bytes(now) - Bytes(before);
  r.omitted = omitted;
  if (config_.sending) {
    r.lost_packets = LostSince(before, now);
    const SenderStats& stats = info_.sender;
    if (info_.tx_ccid == CcidId::k2)
      r.cwnd_packets = stats.cwnd_packets;
    else
      r.x_bits_per_second = stats.x_bytes_per_second * 8;
    if (stats.loss_event_rate > 0) r.loss_event_rate = stats.loss_event_rate;
  } else if (now.meter.lost()) {
    const std::uint64_t lost_before = before.meter.lost().value_or(0);
    r.lost_packets = *now.meter.lost() - std::min(lost_before, *now.meter.lost());
  }
  if (info_.rtt > Duration::zero()) r.rtt_ms = Milliseconds(info_.rtt);
  last_interval_ = now;
  return r;
}

void Session::Sample() {
  if (stop_) return;
  Refresh();
  if (info_.rtt <= Duration::zero()) return;
  const double ms = Milliseconds(info_.rtt);
  rtt_min_ms_ = rtt_samples_ == 0 ? ms : std::min(rtt_min_ms_, ms);
  rtt_max_ms_ = std::max(rtt_max_ms_, ms);
  rtt_sum_ms_ += ms;
  ++rtt_samples_;
}

void Session::Stop() {
  if (!stop_ && open_) {
    Sample();
    stop_ = Take();
  }
}

void Session::Closed() {
  Stop();
  Refresh();
  if (!stop_) return;
  // What was still on its way when the clock stopped belongs to the run.
  stop_->counters = info_.counters;
  stop_->meter = meter_;
}

void Session::AddCpu(const Snapshot& last, EndReport* report) const {
  const double span = Seconds(last.time - base_.time);
  const double cpu = Seconds(last.cpu - base_.cpu);
  if (span > 0) report->cpu_local_percent = 100 * cpu / span;
  const std::uint64_t packets = Packets(last) - Packets(base_);
  if (packets != 0) report->cpu_local_us_per_packet = cpu * 1e6 / static_cast<double>(packets);
}

EndReport Session::End() const {
  EndReport r;
  r.close = info_.close;
  for (std::size_t i = 0; i < static_cast<std::size_t>(DropReason::kCount); ++i) {
    const std::uint64_t n = runtime_->endpoint().counters().dropped[i];
    if (n != 0) r.dropped[ToString(static_cast<DropReason>(i))] = n;
  }
  if (info_.counters.queue_drops != 0) r.dropped["send-queue"] = info_.counters.queue_drops;
  if (echo_drops_ != 0) r.dropped["echo-queue-full"] = echo_drops_;
  if (sink_drops_ != 0) r.dropped["output-refused"] = sink_drops_;
  if (!stop_) {
    if (config_.sending) r.sent_packets = r.sent_bytes = 0;
    return r;
  }
  const Snapshot& last = *stop_;
  r.seconds = Seconds(last.time - base_.time);
  if (config_.sending) {
    r.sent_packets = Packets(last) - Packets(base_);
    r.sent_bytes = Bytes(last) - Bytes(base_);
    r.lost_packets = LostSince(base_, last);
    const SenderStats& stats = info_.sender;
    if (config_.nonces) r.nonce_mismatches = last.counters.nonce_mismatches;
    if (stats.loss_event_rate > 0)
      r.loss_event_rate = stats.loss_event_rate;
    else if (last.counters.data_packets_sent != 0)
      r.loss_event_rate = static_cast<double>(stats.loss_events) /
                          static_cast<double>(last.counters.data_packets_sent);
    if (last.meter.packets() != 0) {
      r.echoed_packets = last.meter.packets();
      r.echoed_bytes = last.meter.bytes();
    }
  } else {
    r.received_packets = Packets(last) - Packets(base_);
    r.received_bytes = Bytes(last) - Bytes(base_);
    r.received_seconds = Seconds(std::max(last.meter.last_arrival(), base_.time) - base_.time);
    r.out_of_order = last.meter.out_of_order() - base_.meter.out_of_order();
    r.duplicates = last.counters.duplicates - base_.counters.duplicates;
    r.jitter_ms = last.meter.jitter_ms();
    if (last.meter.lost()) {
      const std::uint64_t before = std::min(base_.meter.lost().value_or(0), *last.meter.lost());
      r.lost_packets = *last.meter.lost() - before;
    }
  }
  if (rtt_samples_ != 0) {
    r.rtt_mean_ms = rtt_sum_ms_ / static_cast<double>(rtt_samples_);
    r.rtt_max_ms = rtt_max_ms_;
    r.rtt_min_ms = rtt_min_ms_;
    if (info_.sender.min_rtt > Duration::zero())
      r.rtt_min_ms = std::min(rtt_min_ms_, Milliseconds(info_.sender.min_rtt));
  }
  AddCpu(last, &r);
  return r;
}

RemoteFigures Session::Figures() const {
  RemoteFigures f;
  const Snapshot now =
      stop_ ? *stop_ : Snapshot{runtime_->now(), ProcessCpuTime(), info_.counters, meter_};
  f.packets = Packets(now);
  f.bytes = Bytes(now);
  f.cpu_span_s = Seconds(now.time - opened_);
  f.cpu_s = Seconds(now.cpu - base_.cpu);
  f.seconds = f.cpu_span_s;
  if (config_.sending) return f;
  f.seconds = Seconds(std::max(now.meter.last_arrival(), opened_) - opened_);
  f.out_of_order = now.meter.out_of_order();
  f.duplicates = now.counters.duplicates;
  f.jitter_ms = now.meter.jitter_ms();
  return f;
}

}  // namespace dccp::apps
