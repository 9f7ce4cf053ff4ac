// Sums and text of reports.
#include <fmt/format.h>

#include <algorithm>

#include "apps/common/report.h"
#include "apps/common/text.h"

namespace dccp::apps {

namespace {

// Unknown plus anything is unknown only where nobody knows.
template <typename T>
void Add(std::optional<T>* sum, const std::optional<T>& v) {
  if (v) *sum = sum->value_or(T{}) + *v;
}

template <typename T>
void Raise(std::optional<T>* max, const std::optional<T>& v) {
  if (v) *max = std::max(max->value_or(*v), *v);
}

std::string Loss(std::optional<std::uint64_t> lost, std::uint64_t total) {
  if (!lost) return "-";
  const double percent =
      total == 0 ? 0 : 100.0 * static_cast<double>(*lost) / static_cast<double>(total);
  return fmt::format("{} ({:.2g}%)", *lost, percent);
}

std::string Number(const std::optional<double>& v, const char* unit, int digits = 3) {
  return v ? fmt::format("{:.{}f}{}", *v, digits, unit) : "-";
}

}  // namespace

EndReport Sum(const std::vector<EndReport>& ends) {
  EndReport sum;
  if (ends.size() == 1) return ends[0];
  double rtt_sum = 0;
  std::size_t rtt_count = 0;
  for (const EndReport& e : ends) {
    sum.seconds = std::max(sum.seconds, e.seconds);
    Add(&sum.sent_packets, e.sent_packets);
    Add(&sum.sent_bytes, e.sent_bytes);
    Add(&sum.received_packets, e.received_packets);
    Add(&sum.received_bytes, e.received_bytes);
    Raise(&sum.received_seconds, e.received_seconds);
    Add(&sum.lost_packets, e.lost_packets);
    Add(&sum.out_of_order, e.out_of_order);
    Add(&sum.duplicates, e.duplicates);
    Add(&sum.echoed_packets, e.echoed_packets);
    Add(&sum.echoed_bytes, e.echoed_bytes);
    Add(&sum.equation_bps, e.equation_bps);
    Add(&sum.nonce_mismatches, e.nonce_mismatches);
    Raise(&sum.jitter_ms, e.jitter_ms);
    Raise(&sum.rtt_max_ms, e.rtt_max_ms);
    Raise(&sum.loss_event_rate, e.loss_event_rate);
    if (e.rtt_min_ms)
      sum.rtt_min_ms = std::min(sum.rtt_min_ms.value_or(*e.rtt_min_ms), *e.rtt_min_ms);
    if (e.rtt_mean_ms) {
      rtt_sum += *e.rtt_mean_ms;
      ++rtt_count;
    }
    // Of the process and of the endpoint: each connection tells the same.
    Raise(&sum.cpu_local_percent, e.cpu_local_percent);
    Raise(&sum.cpu_remote_percent, e.cpu_remote_percent);
    sum.dropped = e.dropped;
    if (!sum.close || (e.close && !e.close->clean)) sum.close = e.close;
  }
  if (rtt_count != 0) sum.rtt_mean_ms = rtt_sum / static_cast<double>(rtt_count);
  const auto per_packet = [&sum](std::optional<double> percent,
                                 std::optional<std::uint64_t> packets) -> std::optional<double> {
    if (!percent || !packets || *packets == 0) return std::nullopt;
    return *percent / 100 * sum.seconds * 1e6 / static_cast<double>(*packets);
  };
  const auto packets = sum.sent_packets ? sum.sent_packets : sum.received_packets;
  sum.cpu_local_us_per_packet = per_packet(sum.cpu_local_percent, packets);
  sum.cpu_remote_us_per_packet = per_packet(sum.cpu_remote_percent, sum.received_packets);
  return sum;
}

IntervalReport Sum(const std::vector<IntervalReport>& intervals) {
  IntervalReport sum = intervals[0];
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    sum.packets += intervals[i].packets;
    sum.bytes += intervals[i].bytes;
    Add(&sum.lost_packets, intervals[i].lost_packets);
    Add(&sum.cwnd_packets, intervals[i].cwnd_packets);
    Add(&sum.x_bits_per_second, intervals[i].x_bits_per_second);
    Raise(&sum.rtt_ms, intervals[i].rtt_ms);
    Raise(&sum.loss_event_rate, intervals[i].loss_event_rate);
  }
  return sum;
}

std::string IntervalHeader() {
  return "[ ID] Interval           Transfer      Bitrate          Datagrams   Lost            RTT"
         "          Window\n";
}

std::string IntervalText(const std::string& id, const IntervalReport& r) {
  const std::string window =
      r.x_bits_per_second ? RateText(*r.x_bits_per_second) : Number(r.cwnd_packets, " packets", 1);
  return fmt::format(
      "[{:>3}] {:>6.2f}-{:<6.2f} sec  {:>12}  {:>15}  {:>9}   {:<14}  {:<11}  {}{}\n", id,
      r.start_s, r.end_s, BytesText(static_cast<double>(r.bytes)), RateText(r.BitsPerSecond()),
      r.packets, Loss(r.lost_packets, r.packets + r.lost_packets.value_or(0)),
      Number(r.rtt_ms, " ms"), window, r.omitted ? "  (omitted)" : "");
}

std::string EndText(const std::string& id, const EndReport& r) {
  std::string out;
  const auto line = [&](double seconds, std::uint64_t bytes, std::uint64_t packets, double bps,
                        const std::string& rest) {
    out +=
        fmt::format("[{:>3}] {:>6.2f}-{:<6.2f} sec  {:>12}  {:>15}  {:>9}   {}\n", id, 0.0, seconds,
                    BytesText(static_cast<double>(bytes)), RateText(bps), packets, rest);
  };
  if (r.sent_packets)
    line(r.seconds, r.sent_bytes.value_or(0), *r.sent_packets, r.SentBps().value_or(0), "sent");
  if (r.received_packets)
    line(r.received_seconds.value_or(r.seconds), r.received_bytes.value_or(0), *r.received_packets,
         r.ReceivedBps().value_or(0),
         fmt::format("received, lost {}, out of order {}, jitter {}",
                     Loss(r.lost_packets, *r.received_packets + r.lost_packets.value_or(0)),
                     r.out_of_order.value_or(0), Number(r.jitter_ms, " ms")));
  else if (r.lost_packets)
    out += fmt::format("[{:>3}] lost, as the sender infers: {}\n", id,
                       Loss(r.lost_packets, r.sent_packets.value_or(0)));
  if (r.nonce_mismatches)
    out += fmt::format("[{:>3}] acknowledgements with a wrong nonce sum: {}\n", id,
                       *r.nonce_mismatches);
  if (r.echoed_packets)
    out += fmt::format("[{:>3}] echoed: {} datagrams, {}\n", id, *r.echoed_packets,
                       BytesText(static_cast<double>(r.echoed_bytes.value_or(0))));
  if (r.rtt_mean_ms)
    out += fmt::format("[{:>3}] round trip min/mean/max {} / {} / {}\n", id,
                       Number(r.rtt_min_ms, " ms"), Number(r.rtt_mean_ms, " ms"),
                       Number(r.rtt_max_ms, " ms"));
  if (r.cpu_local_percent)
    out += fmt::format(
        "[{:>3}] CPU here {} ({} us a packet), peer {} ({} us a packet)\n", id,
        Number(r.cpu_local_percent, "%", 1), Number(r.cpu_local_us_per_packet, "", 2),
        Number(r.cpu_remote_percent, "%", 1), Number(r.cpu_remote_us_per_packet, "", 2));
  if (r.equation_bps)
    out += fmt::format("[{:>3}] throughput equation {}, measured / equation {}\n", id,
                       RateText(*r.equation_bps), Number(r.RatioToEquation(), ""));
  return out;
}

}  // namespace dccp::apps
