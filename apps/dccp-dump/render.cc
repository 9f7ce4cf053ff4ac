#include "apps/dccp-dump/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "apps/common/text.h"
#include "apps/dccp-dump/options.h"
#include "stack/base/byte_order.h"

namespace dccp::apps {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kFields = {"number",    "time",         "src",           "dst",
                                "encap",     "udp_src_port", "udp_dst_port",  "ecn",
                                "hop_limit", "src_port",     "dst_port",      "type",
                                "x",         "seq",          "ack",           "ccval",
                                "cscov",     "checksum",     "data_offset",   "service_code",
                                "reset",     "options",      "payload_bytes", "truncated",
                                "error",     "violations"};

const char* TypeName(const DumpPacket& packet) { return ToString(packet.view.type()); }

void AddHeader(const DumpPacket& packet, Json* json) {
  const PacketView& view = packet.view;
  Json& j = *json;
  j["src_port"] = view.source_port();
  j["dst_port"] = view.destination_port();
  j["type"] = TypeName(packet);
  j["x"] = view.extended();
  j["seq"] = packet.seq.value();
  j["ack"] = view.has_ack() ? Json(packet.ack.value()) : Json(nullptr);
  j["ccval"] = view.ccval();
  j["cscov"] = view.cscov();
  j["data_offset"] = view.header().size() / 4;
  if (HasServiceCode(view.type())) j["service_code"] = view.service_code().ToText().data();
  if (view.type() == PacketType::kReset) {
    const ResetReason reason = view.reset_reason();
    j["reset"] = {{"code", static_cast<unsigned>(reason.code)},
                  {"name", ToString(reason.code)},
                  {"data", reason.data}};
  }
  j["options"] = OptionsToJson(packet);
  j["payload_bytes"] = packet.dccp_bytes - view.header().size();
}

std::string FieldText(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool ReservedBitsSet(const PacketView& view) {
  const std::byte* p = view.header().data();
  if ((Load8(p + 8) & 0xE0u) != 0) return true;
  if (view.extended() && Load8(p + 9) != 0) return true;
  if (!view.has_ack()) return false;
  return view.extended() ? LoadBe16(p + 16) != 0 : Load8(p + 12) != 0;
}

}  // namespace

bool IsField(const std::string& name) {
  const std::string head = name.substr(0, name.find('.'));
  return std::find(kFields.begin(), kFields.end(), head) != kFields.end();
}

Json PacketToJson(const DumpPacket& packet) {
  Json j;
  j["number"] = packet.number;
  j["time"] = static_cast<double>(packet.time_ns) / 1e9;
  j["src"] = AddressText(packet.ip.src);
  j["dst"] = AddressText(packet.ip.dst);
  j["encap"] = packet.udp ? "udp" : "native";
  if (packet.udp) {
    j["udp_src_port"] = packet.udp_src;
    j["udp_dst_port"] = packet.udp_dst;
  }
  j["ecn"] = ToString(packet.ip.ecn);
  j["hop_limit"] = packet.ip.hop_limit;
  j["checksum"] = ToString(packet.checksum);
  if (packet.parse_error == ParseError::kNone)
    AddHeader(packet, &j);
  else
    j["error"] = ToString(packet.parse_error);
  if (packet.truncated) j["truncated"] = true;
  if (!packet.violations.empty()) j["violations"] = packet.violations;
  return j;
}

std::string PacketToFields(const Json& packet, const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) line += '\t';
    std::istringstream path(fields[i]);
    const Json* at = &packet;
    std::string part;
    while (at != nullptr && std::getline(path, part, '.'))
      at = at->is_object() && at->contains(part) ? &(*at)[part] : nullptr;
    if (at != nullptr) line += FieldText(*at);
  }
  return line;
}

std::string PacketToText(const DumpPacket& packet, std::int64_t origin_ns) {
  std::string line = fmt::format("{:>6} {:>12.6f}  ", packet.number,
                                 static_cast<double>(packet.time_ns - origin_ns) / 1e9);
  if (packet.parse_error != ParseError::kNone) {
    line +=
        fmt::format("{} > {}  INVALID: {} ({} bytes)", AddressText(packet.ip.src),
                    AddressText(packet.ip.dst), ToString(packet.parse_error), packet.dccp_bytes);
  } else {
    const PacketView& view = packet.view;
    line += fmt::format("{} > {}  {:<8} seq {}", AddressAndPort(packet.ip.src, view.source_port()),
                        AddressAndPort(packet.ip.dst, view.destination_port()), TypeName(packet),
                        packet.seq.value());
    if (view.has_ack()) line += fmt::format(" ack {}", packet.ack.value());
    if (!view.extended()) line += packet.extended_numbers ? " (24 bits)" : " (low 24 bits)";
    if (HasServiceCode(view.type()))
      line += fmt::format(" service {}", view.service_code().ToText().data());
    if (view.type() == PacketType::kReset) {
      const ResetReason r = view.reset_reason();
      line += fmt::format(" code {} ({}) data {} {} {}", static_cast<unsigned>(r.code),
                          ToString(r.code), r.data[0], r.data[1], r.data[2]);
    }
    if (view.ccval() != 0) line += fmt::format(" ccval {}", view.ccval());
    if (view.cscov() != 0) line += fmt::format(" cscov {}", view.cscov());
    line += fmt::format(" len {}", packet.dccp_bytes - view.header().size());
    if (const std::string options = OptionsToText(packet); !options.empty())
      line += fmt::format("  <{}>", options);
  }
  if (packet.udp) line += fmt::format("  udp {}>{}", packet.udp_src, packet.udp_dst);
  if (packet.ip.ecn != Ecn::kNotEct) line += fmt::format("  {}", ToString(packet.ip.ecn));
  if (packet.checksum != ChecksumVerdict::kGood)
    line += fmt::format("  checksum {}", ToString(packet.checksum));
  for (const std::string& violation : packet.violations) line += "  ! " + violation;
  return line;
}

void CheckPacket(DumpPacket* packet) {
  std::vector<std::string>* out = &packet->violations;
  if (packet->checksum == ChecksumVerdict::kBad)
    out->push_back(packet->udp ? "bad UDP checksum" : "bad checksum");
  if (packet->checksum == ChecksumVerdict::kZero) out->push_back("UDP checksum is zero");
  if (packet->parse_error != ParseError::kNone) {
    if (!packet->truncated) out->push_back(ToString(packet->parse_error));
    return;
  }
  const PacketView& view = packet->view;
  if (view.source_port() == 0 || view.destination_port() == 0) out->push_back("port 0");
  if (ReservedBitsSet(view)) out->push_back("reserved bits are set");
  if (HasServiceCode(view.type()) && !view.service_code().valid())
    out->push_back("service code 4294967295 is invalid");
  CheckOptions(*packet, out);
}

}  // namespace dccp::apps
