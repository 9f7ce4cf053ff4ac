#include "apps/common/report.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "apps/common/text.h"

namespace dccp::apps {

namespace {

template <typename T>
Json Value(const std::optional<T>& v) {
  return v ? Json(*v) : Json(nullptr);
}

constexpr std::array kFeatures = {FeatureNumber::kCcid,
                                  FeatureNumber::kAllowShortSeqnos,
                                  FeatureNumber::kSequenceWindow,
                                  FeatureNumber::kEcnIncapable,
                                  FeatureNumber::kAckRatio,
                                  FeatureNumber::kSendAckVector,
                                  FeatureNumber::kSendNdpCount,
                                  FeatureNumber::kMinChecksumCoverage,
                                  FeatureNumber::kCheckDataChecksum};

std::string Iso8601(std::chrono::system_clock::time_point t) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(t);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace

double IntervalReport::BitsPerSecond() const {
  return end_s > start_s ? static_cast<double>(bytes) * 8 / (end_s - start_s) : 0;
}

std::optional<double> EndReport::SentBps() const {
  if (!sent_bytes) return std::nullopt;
  return seconds > 0 ? static_cast<double>(*sent_bytes) * 8 / seconds : 0;
}

std::optional<double> EndReport::ReceivedBps() const {
  if (!received_bytes) return std::nullopt;
  const double span = received_seconds.value_or(seconds);
  return span > 0 ? static_cast<double>(*received_bytes) * 8 / span : 0;
}

std::optional<double> EndReport::LostPercent() const {
  if (!lost_packets) return std::nullopt;
  const std::optional<std::uint64_t> total =
      sent_packets
          ? sent_packets
          : (received_packets ? std::optional(*received_packets + *lost_packets) : std::nullopt);
  if (!total || *total == 0) return 0.0;
  return 100.0 * static_cast<double>(*lost_packets) / static_cast<double>(*total);
}

std::optional<double> EndReport::RatioToEquation() const {
  const std::optional<double> measured = SentBps() ? SentBps() : ReceivedBps();
  if (!measured || !equation_bps || *equation_bps <= 0) return std::nullopt;
  return *measured / *equation_bps;
}

Json ToJson(const IntervalReport& r) {
  Json j = {{"start_s", r.start_s},
            {"end_s", r.end_s},
            {"packets", r.packets},
            {"bytes", r.bytes},
            {"bits_per_second", r.BitsPerSecond()},
            {"lost_packets", Value(r.lost_packets)},
            {"rtt_ms", Value(r.rtt_ms)}};
  if (r.x_bits_per_second)
    j["x_bits_per_second"] = *r.x_bits_per_second;
  else
    j["cwnd_packets"] = Value(r.cwnd_packets);
  j["loss_event_rate"] = Value(r.loss_event_rate);
  j["omitted"] = r.omitted;
  return j;
}

const char* ClosedByName(ClosedBy by) {
  switch (by) {
    case ClosedBy::kNobody:
      return "nobody";
    case ClosedBy::kLocal:
      return "local";
    case ClosedBy::kRemote:
      return "remote";
    case ClosedBy::kTimeout:
      return "timeout";
    case ClosedBy::kProtocol:
      return "protocol";
    case ClosedBy::kUnreachable:
      return "unreachable";
  }
  return "?";
}

Json ToJson(const EndReport& r) {
  Json j;
  j["seconds"] = r.seconds;
  j["sent"] = {{"packets", Value(r.sent_packets)},
               {"bytes", Value(r.sent_bytes)},
               {"bits_per_second", Value(r.SentBps())}};
  j["received"] = {
      {"packets", Value(r.received_packets)},      {"bytes", Value(r.received_bytes)},
      {"bits_per_second", Value(r.ReceivedBps())}, {"lost_packets", Value(r.lost_packets)},
      {"lost_percent", Value(r.LostPercent())},    {"out_of_order", Value(r.out_of_order)},
      {"duplicates", Value(r.duplicates)},         {"jitter_ms", Value(r.jitter_ms)}};
  if (r.echoed_packets)
    j["echoed"] = {{"packets", *r.echoed_packets}, {"bytes", Value(r.echoed_bytes)}};
  j["cpu"] = {{"local_percent", Value(r.cpu_local_percent)},
              {"remote_percent", Value(r.cpu_remote_percent)},
              {"local_us_per_packet", Value(r.cpu_local_us_per_packet)},
              {"remote_us_per_packet", Value(r.cpu_remote_us_per_packet)}};
  j["rtt_ms"] = {
      {"min", Value(r.rtt_min_ms)}, {"mean", Value(r.rtt_mean_ms)}, {"max", Value(r.rtt_max_ms)}};
  j["loss_event_rate"] = Value(r.loss_event_rate);
  j["equation_bits_per_second"] = Value(r.equation_bps);
  j["ratio_to_equation"] = Value(r.RatioToEquation());
  j["nonce_mismatches"] = Value(r.nonce_mismatches);
  j["dropped"] = r.dropped;
  j["close"] = {{"by", nullptr}, {"reset_code", nullptr}, {"reset_name", nullptr}};
  if (r.close) {
    j["close"]["by"] = ClosedByName(r.close->by);
    if (r.close->by != ClosedBy::kUnreachable && r.close->by != ClosedBy::kNobody) {
      j["close"]["reset_code"] = static_cast<unsigned>(r.close->reset.code);
      j["close"]["reset_name"] = ToString(r.close->reset.code);
    }
  }
  return j;
}

Json StartToJson(const Endpoint& endpoint, ConnId conn, Encapsulation encap,
                 std::uint32_t payload_bytes) {
  const Result<ConnectionInfo> info = endpoint.Info(conn);
  if (!info) return nullptr;
  const FlowTuple& t = info->tuple;
  Json j;
  j["local"] = AddressAndPort(t.path.local, t.local_port);
  j["remote"] = AddressAndPort(t.path.remote, t.remote_port);
  j["encap"] = encap == Encapsulation::kUdp ? "udp" : "native";
  if (encap == Encapsulation::kUdp) {
    j["local_udp_port"] = t.path.local_udp_port;
    j["remote_udp_port"] = t.path.remote_udp_port;
  }
  j["family"] = t.path.remote.family == IpFamily::kV4 ? "ipv4" : "ipv6";
  j["ccid_tx"] = static_cast<unsigned>(info->tx_ccid);
  j["ccid_rx"] = static_cast<unsigned>(info->rx_ccid);
  j["negotiated"] = Json::object();
  for (const FeatureNumber feature : kFeatures) {
    const Result<std::uint64_t> local = endpoint.Feature(conn, feature, true);
    const Result<std::uint64_t> remote = endpoint.Feature(conn, feature, false);
    j["negotiated"][ToString(feature)] = {{"local", local ? Json(*local) : Json(nullptr)},
                                          {"remote", remote ? Json(*remote) : Json(nullptr)}};
  }
  j["service_code"] = info->service_code.ToText().data();
  j["mps_bytes"] = info->mps_bytes;
  j["payload_bytes"] = payload_bytes != 0 ? Json(payload_bytes) : Json(nullptr);
  j["time"] = Iso8601(std::chrono::system_clock::now());
  return j;
}

}  // namespace dccp::apps
