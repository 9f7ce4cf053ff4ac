#include "apps/common/remote_figures.h"

#include <cmath>

namespace dccp::apps {

namespace {

using nlohmann::json;

std::uint64_t Difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

std::optional<double> OptionalNumber(const json& object, const char* key) {
  const double v = NumberOr(object, key, -1);
  return v < 0 ? std::nullopt : std::optional(v);
}

std::optional<std::uint64_t> OptionalCount(const json& object, const char* key) {
  const std::optional<double> v = OptionalNumber(object, key);
  if (!v || *v > 1e18) return std::nullopt;
  return static_cast<std::uint64_t>(*v);
}

}  // namespace

double NumberOr(const json& object, const char* key, double otherwise) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number()) return otherwise;
  const double v = it->get<double>();
  return std::isfinite(v) && v >= 0 ? v : otherwise;
}

json FiguresToJson(const RemoteFigures& f) {
  json j = {{"ok", true},           {"packets", f.packets}, {"bytes", f.bytes},
            {"seconds", f.seconds}, {"cpu_s", f.cpu_s},     {"cpu_span_s", f.cpu_span_s}};
  if (f.out_of_order) j["out_of_order"] = *f.out_of_order;
  if (f.duplicates) j["duplicates"] = *f.duplicates;
  if (f.jitter_ms) j["jitter_ms"] = *f.jitter_ms;
  return j;
}

std::optional<RemoteFigures> FiguresFromJson(const json& answer) {
  if (!answer.is_object() || !answer.contains("ok") || answer["ok"] != true) return std::nullopt;
  const auto packets = OptionalCount(answer, "packets");
  const auto bytes = OptionalCount(answer, "bytes");
  if (!packets || !bytes) return std::nullopt;
  RemoteFigures f;
  f.packets = *packets;
  f.bytes = *bytes;
  f.seconds = NumberOr(answer, "seconds", 0);
  f.cpu_s = NumberOr(answer, "cpu_s", 0);
  f.cpu_span_s = NumberOr(answer, "cpu_span_s", 0);
  f.out_of_order = OptionalCount(answer, "out_of_order");
  f.duplicates = OptionalCount(answer, "duplicates");
  f.jitter_ms = OptionalNumber(answer, "jitter_ms");
  return f;
}

void AddRemote(const RemoteFigures& end, const std::optional<RemoteFigures>& base,
               const FlowTotals& totals, EndReport* r) {
  const RemoteFigures b = base.value_or(RemoteFigures());
  const std::uint64_t packets = Difference(end.packets, b.packets);
  const std::uint64_t bytes = Difference(end.bytes, b.bytes);
  const std::uint64_t sent = totals.sending ? totals.packets : end.packets;
  const std::uint64_t received = totals.sending ? end.packets : totals.packets;
  r->lost_packets = Difference(Difference(sent, received), totals.lost_before);
  if (totals.sending) {
    r->received_packets = packets;
    r->received_bytes = bytes;
    r->received_seconds = std::max(0.0, end.seconds - b.seconds);
    if (end.out_of_order)
      r->out_of_order = Difference(*end.out_of_order, b.out_of_order.value_or(0));
    if (end.duplicates) r->duplicates = Difference(*end.duplicates, b.duplicates.value_or(0));
    r->jitter_ms = end.jitter_ms;
  } else {
    r->sent_packets = packets;
    r->sent_bytes = bytes;
  }
  const double span = end.cpu_span_s - b.cpu_span_s;
  const double cpu = end.cpu_s - b.cpu_s;
  if (span > 0 && cpu >= 0) r->cpu_remote_percent = 100 * cpu / span;
  if (packets != 0 && cpu >= 0)
    r->cpu_remote_us_per_packet = cpu * 1e6 / static_cast<double>(packets);
}

}  // namespace dccp::apps
