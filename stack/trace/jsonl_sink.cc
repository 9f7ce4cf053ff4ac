#include "stack/trace/jsonl_sink.h"

#include <array>
#include <charconv>
#include <cmath>

#include "stack/trace/describe.h"
#include "stack/wire/packet_view.h"

namespace dccp {

namespace {

void Key(std::string& out, const char* key) {
  out += ",\"";
  out += key;
  out += "\":";
}
void Text(std::string& out, const char* key, const char* value) {
  // Every text is a name out of this library or an address: nothing to escape.
  Key(out, key);
  out += '"';
  out += value;
  out += '"';
}
void Number(std::string& out, const char* key, std::uint64_t value) {
  Key(out, key);
  out += std::to_string(value);
}
void Real(std::string& out, const char* key, double value) {
  Key(out, key);
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end.ptr);
}
void Seconds(std::string& out, const char* key, Duration value) {
  Key(out, key);
  AppendSeconds(out, value.count());
}
void Address(std::string& out, const char* key, const IpAddress& address) {
  Key(out, key);
  out += '"';
  AppendAddress(out, address);
  out += '"';
}

// What the two events about packets share. A packet that cannot be read has its length only.
template <typename Event>
void Packet(std::string& out, const Event& event) {
  Text(out, "encapsulation", ToString(event.encapsulation));
  Address(out, "local", event.path.local);
  Address(out, "remote", event.path.remote);
  if (event.encapsulation == Encapsulation::kUdp) {
    Number(out, "local_udp_port", event.path.local_udp_port);
    Number(out, "remote_udp_port", event.path.remote_udp_port);
  }
  Text(out, "ecn", ToString(event.ecn));
  Number(out, "length", event.dccp_bytes.size());
  PacketView view;
  if (PacketView::Parse(event.dccp_bytes, &view, {.allow_listen = true}) != ParseError::kNone) {
    return;
  }
  Number(out, "source_port", view.source_port());
  Number(out, "destination_port", view.destination_port());
  Text(out, "type", ToString(view.type()));
  Number(out, "x", view.extended() ? 1 : 0);
  Number(out, "seq", view.seq().value());
  if (view.has_ack()) Number(out, "ack", view.ack().value());
  Number(out, "ccval", view.ccval());
  Number(out, "cscov", view.cscov());
  if (view.type() == PacketType::kReset) {
    Number(out, "reset_code", static_cast<std::uint64_t>(view.reset_reason().code));
  }
  Number(out, "option_bytes", view.options().size());
  Number(out, "payload_bytes", view.payload().size());
}

}  // namespace

void JsonlSink::OnPacket(const PacketEvent& event) {
  Begin("packet", event.time, event.conn);
  Text(line_, "direction", ToString(event.direction));
  Packet(line_, event);
  End();
}

void JsonlSink::OnDrop(const DropEvent& event) {
  Begin("drop", event.time, event.conn);
  Text(line_, "reason", ToString(event.reason));
  Packet(line_, event);
  End();
}

void JsonlSink::OnState(const StateEvent& event) {
  Begin("state", event.time, event.conn);
  Text(line_, "from", ToString(event.from));
  Text(line_, "to", ToString(event.to));
  End();
}

void JsonlSink::OnFeature(const FeatureEvent& event) {
  Begin("feature", event.time, event.conn);
  Number(line_, "number", static_cast<std::uint64_t>(event.feature));
  Text(line_, "feature", ToString(event.feature));
  Text(line_, "at", ToString(event.at));
  Number(line_, "value", event.value);
  End();
}

void JsonlSink::OnCc(const CcEvent& event) {
  Begin("cc", event.time, event.conn);
  Number(line_, "ccid", static_cast<std::uint64_t>(event.ccid));
  Number(line_, "cwnd_packets", event.cwnd_packets);
  Number(line_, "pipe_packets", event.pipe_packets);
  Number(line_, "ssthresh_packets", event.ssthresh_packets);
  Number(line_, "allowed_rate_bytes_per_s", event.allowed_rate_bytes_per_s);
  Real(line_, "loss_event_rate", event.loss_event_rate);
  Seconds(line_, "srtt_s", event.srtt);
  Seconds(line_, "rto_s", event.rto);
  Number(line_, "lost_packets", event.lost_packets);
  Number(line_, "marked_packets", event.marked_packets);
  Number(line_, "loss_events", event.loss_events);
  Number(line_, "timeouts", event.timeouts);
  End();
}

void JsonlSink::Begin(const char* name, TimePoint time, ConnId conn) {
  line_ = "{\"event\":\"";
  line_ += name;
  line_ += '"';
  Seconds(line_, "time", time.time_since_epoch());
  Key(line_, "conn");
  if (conn == ConnId{}) {
    line_ += "null";
  } else {
    line_ += '"';
    AppendConn(line_, conn);
    line_ += '"';
  }
}

void JsonlSink::End() {
  line_ += "}\n";
  writer_.Write(line_);
}

}  // namespace dccp
