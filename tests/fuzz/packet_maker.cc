#include "tests/fuzz/packet_maker.h"

#include <algorithm>
#include <array>

#include "dccp/option_writer.h"
#include "stack/wire/checksum.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/integer_field.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_writer.h"

namespace dccp::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Assemble(HeaderFields fields, const Flow& flow, Bytes options,
               std::span<const std::byte> payload, Encapsulation encapsulation) {
  fields.source_port = flow.port;
  fields.destination_port = flow.endpoint_port;
  const std::size_t fixed = FixedHeaderBytes(fields.type, fields.extended);
  options.resize(std::min((options.size() + 3) / 4 * 4, (kMaxHeaderBytes - fixed) / 4 * 4));
  const std::size_t header = fixed + options.size();
  Bytes out(header + payload.size());
  WriteHeader(fields, options, std::span(out).first(header));
  std::ranges::copy(payload, out.begin() + static_cast<std::ptrdiff_t>(header));
  if (encapsulation == Encapsulation::kNative) {
    const std::size_t covered = CoverageBytes(fields.cscov, header, payload.size());
    StoreChecksum(out, ComputeChecksum(flow.path.remote, flow.path.local, out,
                                       std::min(covered, out.size())));
  }
  return out;
}

std::uint64_t Near(FuzzInput& input, std::uint64_t reference) {
  const unsigned how = input.Below(8);
  switch (how) {
    default:
      return reference;
    case 4:
      return reference + input.Byte();
    case 5:
      return reference - input.Byte();
    case 6:
      return reference + input.Integer(3);
    case 7:
      return input.Integer(6);
  }
}

void AddChangeOrConfirm(FuzzInput& input, OptionWriter& writer) {
  const auto type = static_cast<OptionType>(32 + input.Below(4));
  const auto feature = static_cast<FeatureNumber>(input.Below(11));
  const std::size_t nn = NnValueBytes(feature);
  if (nn != 0 && input.Below(8) != 0) {
    std::array<std::byte, 8> value;
    StoreInteger(std::span(value).first(nn), input.Integer(2));
    writer.AddFeature(type, feature, std::span(value).first(nn), input.Below(8) == 0);
    return;
  }
  const Bytes value = input.Bytes(input.Below(5));
  writer.AddFeature(type, feature, value, input.Below(8) == 0);
}

void AddOption(FuzzInput& input, OptionWriter& writer, std::span<const std::byte> payload) {
  switch (input.Below(12)) {
    case 0:
      writer.AddByte(static_cast<OptionType>(input.Below(32)));
      break;
    case 1: {
      const auto type = static_cast<OptionType>(input.Byte());
      const Bytes data = input.Bytes(input.Below(16));
      if (static_cast<unsigned>(type) >= 32) writer.Add(type, data);
      break;
    }
    case 2:
    case 3:
      AddChangeOrConfirm(input, writer);
      break;
    case 4:
      writer.Add(input.Bool() ? OptionType::kAckVectorNonce1 : OptionType::kAckVectorNonce0,
                 input.Bytes(input.Below(20)));
      break;
    case 5:
      writer.Add(OptionType::kDataDropped, input.Bytes(input.Below(8)));
      break;
    case 6:
      AddTimestamp(writer, TenMicros(static_cast<std::uint32_t>(input.Integer(4))));
      break;
    case 7:
      AddTimestampEcho(writer, {TenMicros(static_cast<std::uint32_t>(input.Integer(4))),
                                TenMicros(input.Byte())});
      break;
    case 8:
      AddElapsedTime(writer, TenMicros(static_cast<std::uint32_t>(input.Integer(2))));
      break;
    case 9:
      AddNdpCount(writer, input.Integer(2));
      break;
    case 10:
      AddDataChecksum(writer, Crc32c(payload) + input.Below(2));
      break;
    default:
      AddSlowReceiver(writer);
  }
}

void AddConfirms(const PacketView& packet, OptionWriter& writer) {
  OptionReader reader(packet.options());
  for (OptionView option; reader.Next(&option);) {
    const auto feature = DecodeFeatureOption(option);
    if (!feature || !feature->is_change() || feature->empty()) continue;
    Bytes value(feature->value.begin(), feature->value.end());
    if (NnValueBytes(feature->feature) == 0) value.insert(value.begin(), value.front());
    writer.AddFeature(AnswerTo(feature->type), feature->feature, value, false);
  }
}

// Init Cookies are the answer to a Response.
void ReturnCookies(const PacketView& packet, OptionWriter& writer) {
  OptionReader reader(packet.options());
  for (OptionView option; reader.Next(&option);)
    if (option.type == OptionType::kInitCookie) AddInitCookie(writer, option.data);
}

std::optional<PacketType> ReplyType(PacketType type) {
  switch (type) {
    case PacketType::kRequest:
      return PacketType::kResponse;
    case PacketType::kResponse:
    case PacketType::kData:
    case PacketType::kDataAck:
      return PacketType::kAck;
    case PacketType::kAck:
      return PacketType::kDataAck;
    case PacketType::kSync:
      return PacketType::kSyncAck;
    case PacketType::kCloseReq:
      return PacketType::kClose;
    case PacketType::kClose:
      return PacketType::kReset;
    default:
      return std::nullopt;
  }
}

}  // namespace

Bytes MakePacket(FuzzInput& input, Flow& flow, Encapsulation encapsulation) {
  HeaderFields fields;
  const std::uint8_t flags = input.Byte();
  fields.type = static_cast<PacketType>(input.Below(10));
  fields.extended = !MayUseShortSeqno(fields.type) || (flags & 1) == 0;
  const std::uint64_t seq = Near(input, flow.next);
  if (seq == flow.next) ++flow.next;
  fields.seq = SeqNo(seq);
  fields.ack = SeqNo(Near(input, flow.gss));
  if ((flags & 2) != 0) fields.ccval = static_cast<std::uint8_t>(input.Below(16));
  if ((flags & 4) != 0) fields.cscov = static_cast<std::uint8_t>(input.Below(16));
  if ((flags & 8) != 0) fields.service_code = ServiceCode(input.Byte());
  if (fields.type == PacketType::kReset) {
    fields.reset.code = static_cast<ResetCode>(input.Below(14));
    for (std::uint8_t& b : fields.reset.data) b = input.Byte();
  }
  const Bytes payload(input.Below(64), std::byte{7});
  std::array<std::byte, OptionWriter::kMaxBytes> area;
  OptionWriter writer(area);
  for (unsigned n = input.Below(6); n > 0; --n) AddOption(input, writer, payload);
  if (PacketView last;
      (flags & 64) != 0 && PacketView::Parse(flow.last, &last) == ParseError::kNone)
    ReturnCookies(last, writer);
  const auto options = writer.bytes();
  Bytes out = Assemble(fields, flow, {options.begin(), options.end()}, payload, encapsulation);
  if ((flags & 16) != 0 && !out.empty()) out[input.Byte() % out.size()] ^= std::byte{input.Byte()};
  if ((flags & 32) != 0) out.resize(std::min(out.size(), std::size_t{input.Byte()}));
  return out;
}

Bytes MakeReply(Flow& flow, Encapsulation encapsulation) {
  PacketView packet;
  if (PacketView::Parse(flow.last, &packet) != ParseError::kNone) return {};
  const std::optional<PacketType> type = ReplyType(packet.type());
  if (!type) return {};
  HeaderFields fields;
  fields.type = *type;
  fields.seq = SeqNo(flow.next++);
  fields.ack = SeqNo(flow.gss);
  fields.service_code = packet.service_code();
  if (*type == PacketType::kReset) fields.reset.code = ResetCode::kClosed;
  std::array<std::byte, OptionWriter::kMaxBytes> area;
  OptionWriter writer(area);
  ReturnCookies(packet, writer);
  if (*type != PacketType::kReset) AddConfirms(packet, writer);
  if (*type == PacketType::kAck || *type == PacketType::kDataAck) {
    const std::byte cell = {};
    writer.Add(OptionType::kAckVectorNonce0, std::span(&cell, 1));
  }
  const auto options = writer.bytes();
  const Bytes payload(*type == PacketType::kDataAck ? 10 : 0, std::byte{9});
  return Assemble(fields, flow, {options.begin(), options.end()}, payload, encapsulation);
}

}  // namespace dccp::fuzz
