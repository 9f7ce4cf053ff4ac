#include "apps/dccp-dump/tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "apps/common/text.h"
#include "stack/wire/ack_vector_codec.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/short_seqno.h"

namespace dccp::apps {

namespace {

std::string Endpoint(const IpAddress& address, std::uint16_t port, std::uint16_t udp_port) {
  std::string s(reinterpret_cast<const char*>(address.bytes.data()), address.size());
  return s + fmt::format("/{}/{}", port, udp_port);
}

// FNV-1a.
std::uint64_t Digest(std::span<const std::byte> bytes) {
  std::uint64_t digest = 0xCBF29CE484222325u;
  for (std::byte b : bytes) digest = (digest ^ std::to_integer<std::uint64_t>(b)) * 0x100000001B3u;
  return digest;
}

CcidId CcidOf(const FlowSide& side) {
  const auto it = side.features.find(static_cast<unsigned>(FeatureNumber::kCcid));
  return it == side.features.end() ? CcidId::k2 : static_cast<CcidId>(it->second);
}

}  // namespace

std::uint64_t FlowSide::Missing() const {
  if (!any) return 0;
  const auto span = static_cast<std::uint64_t>(greatest.Minus(lowest)) + 1;
  return span > sent.size() ? span - sent.size() : 0;
}

Tracker::Place Tracker::Find(const DumpPacket& packet) {
  const std::uint16_t source = packet.view.source_port();
  const std::uint16_t destination = packet.view.destination_port();
  const std::string src = Endpoint(packet.ip.src, source, packet.udp_src);
  const std::string dst = Endpoint(packet.ip.dst, destination, packet.udp_dst);
  const std::string key = src < dst ? src + dst : dst + src;
  const auto it = by_tuple_.find(key);
  if (it != by_tuple_.end()) {
    const Connection& known = connections_[it->second];
    const bool again = packet.view.type() == PacketType::kRequest && known.reset;
    if (!again) {
      const FlowSide& client = known.side[0];
      return {it->second, Endpoint(client.address, client.port, client.udp_port) == src ? 0 : 1};
    }
  }
  by_tuple_[key] = connections_.size();
  Connection& fresh = connections_.emplace_back();
  fresh.udp = packet.udp;
  fresh.first_ns = packet.time_ns;
  // A capture that begins in the middle of a handshake shows the server first.
  const int from = packet.view.type() == PacketType::kResponse ? 1 : 0;
  fresh.side[from].address = packet.ip.src;
  fresh.side[from].port = source;
  fresh.side[from].udp_port = packet.udp_src;
  fresh.side[1 - from].address = packet.ip.dst;
  fresh.side[1 - from].port = destination;
  fresh.side[1 - from].udp_port = packet.udp_dst;
  return {connections_.size() - 1, from};
}

void Tracker::ExtendNumbers(const FlowSide& from, const FlowSide& to, DumpPacket* packet) {
  packet->seq = packet->view.seq();
  packet->ack = packet->view.ack();
  packet->extended_numbers = packet->view.extended();
  if (packet->view.extended() || !from.any) return;
  if (packet->view.has_ack() && !to.any) return;
  packet->seq = ExtendSequenceNumber(packet->seq.low24(), from.greatest);
  if (packet->view.has_ack()) packet->ack = ExtendSequenceNumber(packet->ack.low24(), to.greatest);
  packet->extended_numbers = true;
}

void Tracker::CheckNumbers(const FlowSide& from, const FlowSide& to, DumpPacket* packet) {
  if (!packet->extended_numbers) return;
  const bool reset = packet->view.type() == PacketType::kReset;
  // A Reset without a connection takes its number from the packet that it answers. §8.3.1
  const auto before = from.sent.find(packet->seq.value());
  if (!reset && before != from.sent.end() && before->second.digest != Digest(packet->dccp))
    packet->violations.push_back(
        fmt::format("sequence number {} repeats with other content", packet->seq.value()));
  if (!reset && packet->view.has_ack() && to.any && packet->ack.Minus(to.greatest) > 0)
    packet->violations.push_back(
        fmt::format("acknowledges {}, which the peer has not sent", packet->ack.value()));
}

void Tracker::CountPacket(const DumpPacket& packet, FlowSide* from) {
  ++from->packets;
  const std::size_t header = packet.view.header().size();
  if (IsDataPacket(packet.view.type())) {
    const bool carries = packet.view.type() == PacketType::kData ||
                         packet.view.type() == PacketType::kDataAck || packet.dccp_bytes > header;
    if (carries) ++from->data_packets;
    from->payload_bytes += packet.dccp_bytes - header;
  }
  if (!packet.extended_numbers) return;
  const bool stray = packet.view.type() == PacketType::kReset && from->any &&
                     std::abs(packet.seq.Minus(from->greatest)) > 1'000'000;
  if (stray) return;
  if (!from->any) from->lowest = from->greatest = packet.seq;
  from->any = true;
  if (packet.seq.Minus(from->greatest) > 0) from->greatest = packet.seq;
  if (packet.seq.Minus(from->lowest) < 0) from->lowest = packet.seq;
  const SeenPacket seen{packet.time_ns, Digest(packet.dccp)};
  if (!from->sent.emplace(packet.seq.value(), seen).second) ++from->repeated;
}

void Tracker::TakeAcknowledgement(const DumpPacket& packet, FlowSide* to) {
  if (!packet.extended_numbers || !packet.view.has_ack()) return;
  if (to->last_acked && packet.ack.Minus(*to->last_acked) <= 0) return;
  to->last_acked = packet.ack;
  const auto sent = to->sent.find(packet.ack.value());
  if (sent == to->sent.end()) return;
  double ms = static_cast<double>(packet.time_ns - sent->second.time_ns) / 1e6;
  OptionReader reader(packet.view.options());
  OptionView option;
  while (reader.Next(&option)) {
    if (option.type != OptionType::kElapsedTime) continue;
    if (const auto elapsed = DecodeElapsedTime(option.data))
      ms -= static_cast<double>(elapsed->ticks()) / 100;
  }
  if (ms < 0) return;
  to->rtt_min_ms = to->rtt_samples == 0 ? ms : std::min(to->rtt_min_ms, ms);
  to->rtt_max_ms = std::max(to->rtt_max_ms, ms);
  to->rtt_sum_ms += ms;
  ++to->rtt_samples;
}

void Tracker::TakeOptions(const DumpPacket& packet, FlowSide* from, FlowSide* to) {
  OptionReader reader(packet.view.options());
  OptionView option;
  SeqNo at = packet.ack;
  while (reader.Next(&option)) {
    if (const auto feature = DecodeFeatureOption(option); feature && feature->is_confirm()) {
      if (feature->empty()) continue;
      FlowSide* where = feature->is_local() ? from : to;
      const auto nn = DecodeNnValue(feature->feature, feature->value);
      where->features[static_cast<unsigned>(feature->feature)] =
          nn ? *nn : std::to_integer<std::uint64_t>(feature->value[0]);
      continue;
    }
    const bool vector =
        option.type == OptionType::kAckVectorNonce0 || option.type == OptionType::kAckVectorNonce1;
    if (!vector || !packet.extended_numbers || !packet.view.has_ack()) continue;
    AckVectorReader runs(option.data);
    AckVectorRun run;
    while (runs.Next(&run)) {
      for (std::uint32_t i = 0; i < run.packets; ++i, at = at + -1) {
        if (run.state == AckState::kNotReceived)
          to->reported_missing.insert(at.value());
        else if (!to->reported_missing.empty())
          to->reported_missing.erase(at.value());
      }
    }
  }
}

std::optional<Tracker::Place> Tracker::Update(DumpPacket* packet) {
  if (packet->parse_error != ParseError::kNone) return std::nullopt;
  const Place place = Find(*packet);
  const int sender = place.sender;
  Connection& connection = connections_[place.connection];
  FlowSide* from = &connection.side[sender];
  FlowSide* to = &connection.side[1 - sender];
  ExtendNumbers(*from, *to, packet);
  packet->forward_ccid = CcidOf(*from);
  packet->reverse_ccid = CcidOf(*to);
  CheckNumbers(*from, *to, packet);
  CountPacket(*packet, from);
  TakeAcknowledgement(*packet, to);
  TakeOptions(*packet, from, to);
  connection.last_ns = packet->time_ns;
  const PacketType type = packet->view.type();
  if (type == PacketType::kRequest) connection.request = true;
  if (type == PacketType::kResponse) connection.response = true;
  if (type == PacketType::kRequest || type == PacketType::kResponse)
    connection.service_code = packet->view.service_code();
  if (sender == 0 && connection.response && packet->view.has_ack() && type != PacketType::kReset)
    connection.established = true;
  if (type == PacketType::kReset && !connection.reset) {
    connection.reset = packet->view.reset_reason();
    connection.reset_by = sender;
  }
  return place;
}

namespace {

std::string SideText(const FlowSide& side) {
  const std::uint64_t missing = side.Missing();
  std::string s = fmt::format("{} packets, {} data, {} bytes", side.packets, side.data_packets,
                              side.payload_bytes);
  if (missing != 0) s += fmt::format(", {} not in the capture", missing);
  if (!side.reported_missing.empty())
    s += fmt::format(", {} reported lost", side.reported_missing.size());
  if (side.repeated != 0) s += fmt::format(", {} repeated", side.repeated);
  if (side.rtt_samples != 0)
    s += fmt::format(", rtt {:.3f}/{:.3f}/{:.3f} ms", side.rtt_min_ms,
                     side.rtt_sum_ms / static_cast<double>(side.rtt_samples), side.rtt_max_ms);
  return s;
}

std::string FeatureText(const Connection& connection) {
  std::string s;
  for (int i = 0; i < 2; ++i)
    for (const auto& [number, value] : connection.side[i].features) {
      const std::string name = ToString(static_cast<FeatureNumber>(number));
      s += fmt::format("{}{}/{} {}", s.empty() ? "" : ", ",
                       name == "?" ? fmt::format("feature {}", number) : name,
                       i == 0 ? "client" : "server", value);
    }
  return s.empty() ? "defaults" : s;
}

const char* HandshakeText(const Connection& c) {
  if (c.request && c.established) return "complete";
  if (c.request && c.response) return "no acknowledgement of the Response";
  if (c.request) return "no Response";
  return "not in the capture";
}

}  // namespace

std::string StatsLine(const Connection& c) {
  const auto name = [&c](const FlowSide& s) {
    std::string text = AddressAndPort(s.address, s.port);
    return c.udp ? text + fmt::format("/udp {}", s.udp_port) : text;
  };
  std::string end = "open at the end";
  if (c.reset)
    end = fmt::format("Reset {} ({}) by {}", static_cast<unsigned>(c.reset->code),
                      ToString(c.reset->code), c.reset_by == 0 ? "client" : "server");
  return fmt::format(
      "{} > {} | {:.6f} s | service {} | handshake {} | {} | client: {} | server: {} | {}",
      name(c.side[0]), name(c.side[1]), static_cast<double>(c.last_ns - c.first_ns) / 1e9,
      c.service_code ? c.service_code->ToText().data() : "unknown", HandshakeText(c),
      FeatureText(c), SideText(c.side[0]), SideText(c.side[1]), end);
}

}  // namespace dccp::apps
