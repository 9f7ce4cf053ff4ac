#include "apps/dccp-lab/report_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "apps/common/capture_file.h"
#include "apps/common/text.h"
#include "apps/dccp-dump/packet.h"
#include "apps/dccp-dump/tracker.h"
#include "ccid/ccid3/options.h"
#include "stack/wire/option_reader.h"

namespace dccp::apps::lab {

namespace {

constexpr std::size_t kMostFlows = 12;
// Of the data packets of the greatest flow; what has fewer only goes with it.
constexpr double kLeastShare = 0.01;
constexpr std::size_t kMostPoints = 2'500;  // of a series
constexpr std::size_t kDetailPackets = 300;

struct Mark {
  double seconds = 0;
  std::int64_t number = 0;  // from the first of the flow
  std::size_t bytes = 0;
};

// One direction: what a side sent and what the other said of it.
struct Flow {
  bool any = false;
  SeqNo base;
  std::vector<Mark> sent;
  std::vector<Mark> acknowledged;
  std::map<std::int64_t, std::int64_t> events;  // first number of a loss event, and its length
  std::vector<Mark> losses;                     // events, or packets where Ack Vectors tell
  bool losses_are_events = false;
};

double SecondsSince(std::int64_t origin_ns, std::int64_t time_ns) {
  return static_cast<double>(time_ns - origin_ns) / 1e9;
}

// Loss events that a packet's Loss Intervals tell of. An interval begins with its lossy part; the
// newest ends Skip Length before the Acknowledgement Number. RFC 4342 §8.6
void TakeLossIntervals(const DumpPacket& packet, Flow* about) {
  const bool tfrc = packet.reverse_ccid == CcidId::k3 || packet.reverse_ccid == CcidId::k4;
  if (!tfrc || !packet.view.has_ack() || !about->any) return;
  OptionReader reader(packet.view.options());
  OptionView option;
  while (reader.Next(&option)) {
    if (option.type != ccid3::kLossIntervals) continue;
    const auto view = ccid3::DecodeLossIntervals(option.data);
    if (!view) continue;
    std::int64_t end = packet.ack.Minus(about->base) - view->skip + 1;
    for (std::size_t i = 0; i < view->size(); ++i) {
      const ccid3::WireInterval interval = (*view)[i];
      end -= static_cast<std::int64_t>(interval.lossless) + interval.loss;
      if (interval.loss == 0 || end < 0) continue;
      std::int64_t& length = about->events[end];
      length = std::max<std::int64_t>(length, interval.loss);
    }
  }
}

void TakePacket(const DumpPacket& packet, const Connection& connection, Flow* own, Flow* peer) {
  if (!packet.extended_numbers) return;
  const double seconds = SecondsSince(connection.first_ns, packet.time_ns);
  // The Reset of a connection that is not there has a number of another's choosing.
  const bool stray = packet.view.type() == PacketType::kReset && own->any &&
                     std::abs(packet.seq.Minus(own->base)) > (std::int64_t{1} << 40);
  if (stray) return;
  if (!own->any) own->base = packet.seq;
  own->any = true;
  const std::size_t header = packet.view.header().size();
  own->sent.push_back({seconds, packet.seq.Minus(own->base),
                       IsDataPacket(packet.view.type()) ? packet.dccp_bytes - header : 0});
  if (packet.view.has_ack() && peer->any)
    peer->acknowledged.push_back({seconds, packet.ack.Minus(peer->base), 0});
  TakeLossIntervals(packet, peer);
}

// When a packet was sent; where the capture lacks it, when the next one was.
double TimeOf(const Flow& flow, std::int64_t number) {
  const auto at = std::lower_bound(flow.sent.begin(), flow.sent.end(), number,
                                   [](const Mark& m, std::int64_t n) { return m.number < n; });
  return at == flow.sent.end() ? flow.sent.back().seconds : at->seconds;
}

// The capture may have them out of order.
void FindLosses(const FlowSide& side, Flow* flow) {
  std::vector<Mark> in_order = flow->sent;
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Mark& a, const Mark& b) { return a.number < b.number; });
  flow->sent.swap(in_order);
  for (const std::uint64_t value : side.reported_missing) {
    const std::int64_t number = SeqNo(value).Minus(flow->base);
    if (number >= 0) flow->losses.push_back({TimeOf(*flow, number), number, 0});
  }
  flow->losses_are_events = flow->losses.empty() && !flow->events.empty();
  if (flow->losses_are_events)
    for (const auto& [number, length] : flow->events)
      flow->losses.push_back({TimeOf(*flow, number), number, static_cast<std::size_t>(length)});
  std::sort(flow->losses.begin(), flow->losses.end(),
            [](const Mark& a, const Mark& b) { return a.number < b.number; });
}

Json SeriesOf(const char* name, const char* kind, const std::vector<Mark>& marks, double from,
              double to) {
  std::vector<const Mark*> within;
  for (const Mark& mark : marks)
    if (mark.seconds >= from && mark.seconds <= to) within.push_back(&mark);
  const std::size_t step = (within.size() + kMostPoints - 1) / kMostPoints;
  Json x = Json::array();
  Json y = Json::array();
  for (std::size_t i = 0; i < within.size(); i += std::max<std::size_t>(step, 1)) {
    x.push_back(std::round(within[i]->seconds * 1e6) / 1e6);
    y.push_back(within[i]->number);
  }
  return {{"name", step > 1 ? fmt::format("{}, one in {}", name, step) : std::string(name)},
          {"kind", kind},
          {"x", std::move(x)},
          {"y", std::move(y)}};
}

const char* LossName(const Flow& flow) {
  return flow.losses_are_events ? "loss events" : "packets lost";
}

Json SequenceChoice(const Flow& flow, const std::string& label, double from, double to) {
  Json series = Json::array();
  series.push_back(SeriesOf("packets sent", "points", flow.sent, from, to));
  series.back()["color"] = 0;
  series.back()["small"] = true;
  series.push_back(SeriesOf("acknowledged up to", "line", flow.acknowledged, from, to));
  series.back()["color"] = 2;
  series.back()["step"] = true;
  series.push_back(SeriesOf(LossName(flow), "points", flow.losses, from, to));
  series.back()["color"] = 4;
  series.back()["symbol"] = "x";
  return {{"label", label}, {"y_title", "sequence number"}, {"series", std::move(series)}};
}

Json SequenceFigure(const Flow& flow, const std::string& title, const std::string& note) {
  Json choices = Json::array();
  const std::size_t last = flow.sent.size() - 1;
  const double end = flow.sent[last].seconds;
  choices.push_back(SequenceChoice(flow, "the whole connection", 0, end));
  if (last > kDetailPackets) {
    const double until = flow.sent[kDetailPackets].seconds;
    choices.push_back(SequenceChoice(flow, "its beginning", 0, until));
    if (!flow.losses.empty()) {
      const auto at = std::lower_bound(flow.sent.begin(), flow.sent.end(), flow.losses[0].number,
                                       [](const Mark& m, std::int64_t n) { return m.number < n; });
      const auto index = static_cast<std::size_t>(at - flow.sent.begin());
      const std::size_t first = index > kDetailPackets / 3 ? index - kDetailPackets / 3 : 0;
      choices.push_back(SequenceChoice(flow, "around the first loss", flow.sent[first].seconds,
                                       flow.sent[std::min(first + kDetailPackets, last)].seconds));
    }
  }
  return {{"title", title},
          {"note", note},
          {"wide", true},
          {"height", 460},
          {"x", {{"title", "seconds"}, {"type", "linear"}}},
          {"y", {{"title", "sequence number"}, {"type", "linear"}}},
          {"choices", std::move(choices)}};
}

// 1, 2 or 5 times a power of ten, that makes about 200 of a span.
double BinOf(double seconds) {
  const double least = std::max(seconds / 200, 0.001);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}

Json RateFigure(const Flow& flow, const std::string& title) {
  const double bin = BinOf(flow.sent.back().seconds);
  const auto bins = static_cast<std::size_t>(flow.sent.back().seconds / bin) + 1;
  std::vector<double> bits(bins);
  std::vector<double> lost(bins);
  const auto index = [&](const Mark& mark) {
    return std::min(static_cast<std::size_t>(std::max(mark.seconds, 0.0) / bin), bins - 1);
  };
  for (const Mark& mark : flow.sent) bits[index(mark)] += static_cast<double>(mark.bytes) * 8;
  for (const Mark& mark : flow.losses) ++lost[index(mark)];
  const RateUnit unit = RateUnitFor(*std::max_element(bits.begin(), bits.end()) / bin);
  Json x = Json::array(), rate = Json::array(), counts = Json::array();
  for (std::size_t i = 0; i < bins; ++i) {
    x.push_back(Rounded((static_cast<double>(i) + 0.5) * bin));
    rate.push_back(Rounded(bits[i] / bin * unit.scale));
    counts.push_back(lost[i]);
  }
  Json series = Json::array();
  series.push_back(
      {{"name", "payload sent"}, {"kind", "line"}, {"x", x}, {"y", std::move(rate)}, {"color", 0}});
  series.push_back({{"name", LossName(flow)},
                    {"kind", "bars"},
                    {"x", std::move(x)},
                    {"y", std::move(counts)},
                    {"color", 4},
                    {"panel", 1}});
  return {{"title", title},
          {"note", fmt::format("Payload sent in each {:g} s, and {} in it.", bin, LossName(flow))},
          {"wide", true},
          {"height", 400},
          {"x", {{"title", "seconds"}, {"type", "linear"}}},
          {"y", {{"title", unit.name}, {"type", "linear"}, {"zero", true}}},
          {"panels", {flow.losses_are_events ? "events" : "lost"}},
          {"series", std::move(series)}};
}

// The flows of a capture, by connection and sender.
using Flows = std::map<std::pair<std::size_t, int>, Flow>;

std::optional<Json> FiguresOf(const std::string& path, const Tracker& tracker, Flows* flows,
                              std::string* error) {
  Json figures = Json::array();
  std::uint64_t most = 0;
  for (const Connection& connection : tracker.connections())
    for (const FlowSide& side : connection.side) most = std::max(most, side.data_packets);
  const double least = std::max(1.0, kLeastShare * static_cast<double>(most));
  std::size_t drawn = 0;
  std::size_t all = 0;
  for (auto& [place, flow] : *flows) {
    const Connection& connection = tracker.connections()[place.first];
    const FlowSide& side = connection.side[place.second];
    const FlowSide& peer = connection.side[1 - place.second];
    if (static_cast<double>(side.data_packets) < least || flow.sent.empty()) continue;
    if (++all > kMostFlows) continue;
    ++drawn;
    FindLosses(side, &flow);
    const std::string title = fmt::format("{} to {}", AddressAndPort(side.address, side.port),
                                          AddressAndPort(peer.address, peer.port));
    figures.push_back(SequenceFigure(flow, "Sequence plot: " + title,
                                     fmt::format("{}: {}", path, StatsLine(connection))));
    figures.push_back(RateFigure(flow, "Rate: " + title));
  }
  if (figures.empty()) {
    *error = fmt::format("{}: no DCCP data in it (--udp-port names the UDP ports)", path);
    return std::nullopt;
  }
  if (all > drawn) *error = fmt::format("{}: the first {} flows of {}", path, drawn, all);
  return figures;
}

}  // namespace

std::optional<Json> FiguresOfTrace(const std::string& path,
                                   const std::vector<std::uint16_t>& udp_ports,
                                   std::string* error) {
  const std::unique_ptr<CaptureFile> capture = CaptureFile::Open(path, error);
  if (capture == nullptr) return std::nullopt;
  Tracker tracker;
  PacketDecoder decoder(udp_ports);
  Flows flows;
  CapturedFrame frame;
  DumpPacket packet;
  CaptureFile::Status status = CaptureFile::Status::kEnd;
  while ((status = capture->Next(&frame)) == CaptureFile::Status::kFrame) {
    if (!IsKnownLinkType(frame.link_type) || !decoder.Decode(frame, &packet)) continue;
    const std::optional<Tracker::Place> place = tracker.Update(&packet);
    if (!place) continue;
    TakePacket(packet, tracker.connections()[place->connection],
               &flows[{place->connection, place->sender}],
               &flows[{place->connection, 1 - place->sender}]);
  }
  error->clear();
  std::optional<Json> figures = FiguresOf(path, tracker, &flows, error);
  if (status == CaptureFile::Status::kBroken)
    *error = fmt::format("{}: {}", path, capture->error());
  return figures;
}

}  // namespace dccp::apps::lab
