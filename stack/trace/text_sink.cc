#include "stack/trace/text_sink.h"

#include <array>
#include <cstdio>

#include "stack/trace/describe.h"
#include "stack/wire/packet_view.h"

namespace dccp {

namespace {

void AppendPacket(std::string& out, std::span<const std::byte> bytes) {
  PacketView view;
  const ParseError error = PacketView::Parse(bytes, &view, {.allow_listen = true});
  if (error != ParseError::kNone) {
    out += "unreadable";
  } else {
    out += ToString(view.type());
    out += " seq " + std::to_string(view.seq().value());
    if (view.has_ack()) out += " ack " + std::to_string(view.ack().value());
    if (HasServiceCode(view.type())) {
      out += ' ';
      out += view.service_code().ToText().data();
    }
    if (view.type() == PacketType::kReset) {
      const ResetCode code = view.reset_reason().code;
      out += " code " + std::to_string(static_cast<unsigned>(code)) + " (" + ToString(code) + ')';
    }
  }
  out += " len " + std::to_string(bytes.size());
}

void AppendPath(std::string& out, const IpAddress& src, const IpAddress& dst) {
  out += ' ';
  AppendAddress(out, src);
  out += " > ";
  AppendAddress(out, dst);
}

}  // namespace

void TextSink::OnPacket(const PacketEvent& event) {
  const bool sent = event.direction == Direction::kSent;
  Begin(event.time, event.conn);
  line_ += sent ? " > " : " < ";
  AppendPacket(line_, event.dccp_bytes);
  if (event.ecn != Ecn::kNotEct) {
    line_ += ' ';
    line_ += ToString(event.ecn);
  }
  AppendPath(line_, sent ? event.path.local : event.path.remote,
             sent ? event.path.remote : event.path.local);
  End();
}

void TextSink::OnDrop(const DropEvent& event) {
  Begin(event.time, event.conn);
  line_ += " dropped (";
  line_ += ToString(event.reason);
  line_ += ") ";
  AppendPacket(line_, event.dccp_bytes);
  AppendPath(line_, event.path.remote, event.path.local);
  End();
}

void TextSink::OnState(const StateEvent& event) {
  Begin(event.time, event.conn);
  line_ += ' ';
  line_ += ToString(event.from);
  line_ += " -> ";
  line_ += ToString(event.to);
  End();
}

void TextSink::OnFeature(const FeatureEvent& event) {
  Begin(event.time, event.conn);
  line_ += ' ';
  line_ += ToString(event.feature);
  line_ += " (" + std::to_string(static_cast<unsigned>(event.feature)) + ", ";
  line_ += ToString(event.at);
  line_ += ") = " + std::to_string(event.value);
  End();
}

void TextSink::OnCc(const CcEvent& event) {
  Begin(event.time, event.conn);
  line_ += " ccid " + std::to_string(static_cast<unsigned>(event.ccid));
  line_ += " cwnd " + std::to_string(event.cwnd_packets);
  line_ += " pipe " + std::to_string(event.pipe_packets);
  line_ += " ssthresh " + std::to_string(event.ssthresh_packets);
  if (event.allowed_rate_bytes_per_s != 0) {
    std::array<char, 80> rate;
    std::snprintf(rate.data(), rate.size(), " rate %llu B/s p %.6g",
                  static_cast<unsigned long long>(event.allowed_rate_bytes_per_s),
                  event.loss_event_rate);
    line_ += rate.data();
  }
  line_ += " srtt ";
  AppendSeconds(line_, event.srtt.count());
  line_ += " rto ";
  AppendSeconds(line_, event.rto.count());
  line_ += " lost " + std::to_string(event.lost_packets);
  line_ += " marked " + std::to_string(event.marked_packets);
  line_ += " events " + std::to_string(event.loss_events);
  line_ += " timeouts " + std::to_string(event.timeouts);
  End();
}

void TextSink::Begin(TimePoint time, ConnId conn) {
  line_.clear();
  AppendSeconds(line_, time.time_since_epoch().count());
  line_ += ' ';
  AppendConn(line_, conn);
}

void TextSink::End() {
  line_ += '\n';
  writer_.Write(line_);
}

}  // namespace dccp
