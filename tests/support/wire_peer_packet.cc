#include "tests/support/wire_peer_packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "stack/wire/checksum.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"

namespace dccp {

void PrintTo(PacketType type, std::ostream* out) { *out << ToString(type); }
void PrintTo(State state, std::ostream* out) { *out << ToString(state); }
void PrintTo(OptionType type, std::ostream* out) { *out << ToString(type); }
void PrintTo(ResetCode code, std::ostream* out) { *out << ToString(code); }

namespace peer {
namespace {

Octets ToOctets(std::span<const std::byte> bytes) {
  Octets out;
  for (std::byte b : bytes) out.push_back(std::to_integer<std::uint8_t>(b));
  return out;
}

HeaderFields FieldsOf(const PacketSpec& spec, std::uint16_t source_port,
                      std::uint16_t destination_port) {
  HeaderFields fields;
  fields.source_port = source_port;
  fields.destination_port = destination_port;
  fields.ccval = spec.ccval;
  fields.cscov = spec.cscov;
  fields.type = spec.type;
  fields.extended = spec.extended;
  fields.seq = SeqNo(spec.seq);
  fields.ack = SeqNo(spec.ack);
  fields.service_code = ServiceCode(spec.service_code);
  fields.reset = spec.reset;
  return fields;
}

std::vector<WireOption> OptionsOf(const PacketView& packet) {
  std::vector<WireOption> out;
  OptionReader reader(packet.options());
  bool mandatory = false;
  for (OptionView option; reader.Next(&option);) {
    if (option.type == OptionType::kMandatory) {
      mandatory = true;
      continue;
    }
    out.push_back({option.type, mandatory, ToOctets(option.data)});
    mandatory = false;
  }
  EXPECT_FALSE(reader.malformed()) << "the endpoint sent an option of nonsensical length";
  return out;
}

}  // namespace

const WireOption* SentPacket::Find(OptionType option) const {
  const auto it = std::find_if(options.begin(), options.end(),
                               [option](const WireOption& o) { return o.type == option; });
  return it == options.end() ? nullptr : &*it;
}

void PrintTo(const WireOption& option, std::ostream* out) {
  if (option.mandatory) *out << "Mandatory ";
  *out << ToString(option.type) << '(' << static_cast<unsigned>(option.type) << ')';
  const char* separator = "[";
  for (std::uint8_t b : option.data) {
    *out << separator << static_cast<unsigned>(b);
    separator = " ";
  }
  if (!option.data.empty()) *out << ']';
}

void PrintTo(const SentPacket& packet, std::ostream* out) {
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(packet.time.time_since_epoch());
  *out << "\n    " << since.count() << "us " << ToString(packet.type) << " seq=" << packet.seq;
  if (packet.ack) *out << " ack=" << *packet.ack;
  if (!packet.extended) *out << " X=0";
  if (packet.ccval != 0) *out << " ccval=" << unsigned{packet.ccval};
  if (packet.cscov != 0) *out << " cscov=" << unsigned{packet.cscov};
  if (packet.type == PacketType::kReset) {
    *out << " code=" << static_cast<unsigned>(packet.reset.code);
    for (std::uint8_t b : packet.reset.data) *out << ',' << unsigned{b};
  }
  *out << " ecn=" << ToString(packet.ecn);
  for (const WireOption& option : packet.options) {
    *out << ' ';
    PrintTo(option, out);
  }
  if (!packet.payload.empty()) *out << " +" << packet.payload.size() << " bytes";
}

Bytes Build(const PacketSpec& spec, std::uint16_t source_port, std::uint16_t destination_port,
            const Path* path) {
  Bytes options;
  for (std::uint8_t b : spec.options) options.push_back(std::byte{b});
  options.resize((options.size() + 3) / 4 * 4);
  const std::size_t header = FixedHeaderBytes(spec.type, spec.extended) + options.size();
  Bytes out(header + spec.payload.size());
  WriteHeader(FieldsOf(spec, source_port, destination_port), options, std::span(out).first(header));
  std::transform(spec.payload.begin(), spec.payload.end(),
                 out.begin() + static_cast<std::ptrdiff_t>(header),
                 [](char c) { return static_cast<std::byte>(c); });
  if (path != nullptr) {
    const std::size_t covered = CoverageBytes(spec.cscov, header, spec.payload.size());
    StoreChecksum(out,
                  ComputeChecksum(path->remote, path->local, out, std::min(covered, out.size())));
  }
  return out;
}

SentPacket Decode(const OutboundDatagram& datagram, Encapsulation encapsulation, TimePoint time) {
  SentPacket out;
  PacketView view;
  const ParseError error = PacketView::Parse(datagram.bytes, &view);
  EXPECT_EQ(error, ParseError::kNone) << "the endpoint sent a packet that is none";
  if (error != ParseError::kNone) return out;
  out.time = time;
  out.type = view.type();
  out.seq = view.seq().value();
  if (view.has_ack()) out.ack = view.ack().value();
  out.extended = view.extended();
  out.ccval = view.ccval();
  out.cscov = view.cscov();
  out.options = OptionsOf(view);
  for (std::byte b : view.payload()) out.payload += static_cast<char>(b);
  out.service_code = view.service_code().value();
  out.reset = view.reset_reason();
  out.ecn = datagram.ecn;
  out.may_fragment = datagram.may_fragment;
  out.checksum_good = encapsulation == Encapsulation::kUdp
                          ? view.checksum() == 0
                          : VerifyChecksum(datagram.path.local, datagram.path.remote, view);
  out.path = datagram.path;
  out.source_port = view.source_port();
  out.destination_port = view.destination_port();
  out.bytes.assign(datagram.bytes.begin(), datagram.bytes.end());
  return out;
}

Octets ConfirmsFor(const SentPacket& packet) {
  Octets out;
  for (const WireOption& option : packet.options) {
    if (!IsChange(option.type)) continue;
    const bool nn = NnValueBytes(static_cast<FeatureNumber>(option.data.at(0))) != 0;
    Octets confirm = option.data;
    // The chosen value, then the confirmer's own list, which is here the same as the proposer's.
    if (!nn) confirm.insert(confirm.begin() + 1, option.data.at(1));
    out.push_back(static_cast<std::uint8_t>(AnswerTo(option.type)));
    out.push_back(static_cast<std::uint8_t>(confirm.size() + 2));
    out.insert(out.end(), confirm.begin(), confirm.end());
  }
  return out;
}

}  // namespace peer
}  // namespace dccp
