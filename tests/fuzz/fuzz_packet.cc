// Any bytes as a packet: PacketView, OptionReader, every decoder, and the reader of ICMP
// quotations. What was understood is written again and must read the same.

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "stack/base/byte_order.h"
#include "stack/wire/ack_vector_codec.h"
#include "stack/wire/checksum.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/data_dropped_codec.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/icmp_quote.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"
#include "stack/wire/short_seqno.h"
#include "tests/fuzz/fuzz_input.h"

namespace dccp::fuzz {
namespace {

// Writes a decoded value by `add` and decodes it once more.
template <typename T, typename Decode, typename Add>
void RoundTrip(const std::optional<T>& value, Decode decode, Add add) {
  if (!value) return;
  std::array<std::byte, 16> buffer;
  OptionWriter writer(buffer);
  Expect(add(writer, *value), "a decoded option can be written");
  OptionReader reader(writer.bytes());
  OptionView again;
  Expect(reader.Next(&again), "a written option can be read");
  Expect(decode(again.data) == value, "an option reads as it was written");
}

void ReadVector(std::span<const std::byte> data) {
  std::uint64_t packets = 0;
  AckVectorReader reader(data);
  for (AckVectorRun run; reader.Next(&run);) packets += run.packets;
  Expect(packets == AckVectorPackets(data), "the runs of an Ack Vector cover what its cells cover");
  for (std::byte cell : data)
    Expect(EncodeAckCell(DecodeAckCell(cell)) == cell, "Ack Vector cells keep their bits");
}

void ReadDropped(std::span<const std::byte> data) {
  DataDroppedReader reader(data);
  std::size_t blocks = 0;
  for (DataDroppedBlock block; reader.Next(&block); ++blocks)
    Expect(EncodeDataDroppedBlock(block) == data[blocks], "Data Dropped blocks keep their bits");
  Expect(blocks == data.size(), "every byte of Data Dropped is a block");
}

void ReadFeature(const OptionView& option) {
  const std::optional<FeatureOptionView> feature = DecodeFeatureOption(option);
  if (!feature) return;
  Expect(feature->is_change() != feature->is_confirm(), "Change or Confirm, not both");
  const auto number = DecodeNnValue(feature->feature, feature->value);
  const bool of_location =
      option.type == OptionType::kChangeL || option.type == OptionType::kConfirmR;
  if (!number || !of_location) return;
  std::array<std::byte, 16> buffer;
  OptionWriter writer(buffer);
  Expect(AddNnFeature(writer, option.type, feature->feature, *number, false), "it fits");
  OptionReader reader(writer.bytes());
  OptionView again;
  Expect(reader.Next(&again) && again.type == option.type, "a feature can be read");
  const auto decoded = DecodeFeatureOption(again);
  Expect(decoded && DecodeNnValue(decoded->feature, decoded->value) == number,
         "a feature reads as it was written");
}

void ReadOption(const OptionView& option) {
  RoundTrip(DecodeNdpCount(option.data), DecodeNdpCount, AddNdpCount);
  RoundTrip(DecodeTimestamp(option.data), DecodeTimestamp, AddTimestamp);
  RoundTrip(DecodeElapsedTime(option.data), DecodeElapsedTime, AddElapsedTime);
  RoundTrip(DecodeTimestampEcho(option.data), DecodeTimestampEcho, AddTimestampEcho);
  RoundTrip(DecodeDataChecksum(option.data), DecodeDataChecksum, AddDataChecksum);
  ReadVector(option.data);
  ReadDropped(option.data);
  ReadFeature(option);
  const ResetReason reason = OptionReset(ResetCode::kOptionError, option.type, option.data);
  Expect(reason.data[0] == static_cast<std::uint8_t>(option.type), "a Reset names the option");
}

void ReadOptions(std::span<const std::byte> area) {
  OptionReader reader(area);
  std::size_t end = 0;
  for (OptionView option; reader.Next(&option);) {
    Expect(option.offset >= end && option.offset < area.size(), "options do not overlap");
    end = option.offset + 1;
    if (static_cast<unsigned>(option.type) >= 32) end += 1 + option.data.size();
    Expect(end <= area.size(), "options lie within their area");
    ReadOption(option);
  }
  OptionView ignored;
  Expect(!reader.Next(&ignored), "the end stays the end");
  if (reader.malformed()) Expect(reader.malformed_data().size() < area.size(), "it lies within");
}

void WriteAgain(const PacketView& packet) {
  HeaderFields fields;
  fields.source_port = packet.source_port();
  fields.destination_port = packet.destination_port();
  fields.ccval = packet.ccval();
  fields.cscov = packet.cscov();
  fields.type = packet.type();
  fields.extended = packet.extended();
  fields.seq = packet.seq();
  fields.ack = packet.ack();
  fields.service_code = packet.service_code();
  fields.reset = packet.reset_reason();
  std::vector<std::byte> bytes(packet.bytes().begin(), packet.bytes().end());
  WriteHeader(fields, packet.options(), std::span(bytes).first(packet.header().size()));
  PacketView again;
  Expect(PacketView::Parse(bytes, &again, {true}) == ParseError::kNone, "a written header parses");
  Expect(again.type() == packet.type() && again.extended() == packet.extended() &&
             again.seq() == packet.seq() && again.ack() == packet.ack() &&
             again.service_code() == packet.service_code() &&
             again.reset_reason() == packet.reset_reason() &&
             again.options().size() == packet.options().size(),
         "a header reads as it was written");
  const IpAddress from = {IpFamily::kV4, {192, 0, 2, 1}, 0};
  const IpAddress to = {IpFamily::kV4, {192, 0, 2, 2}, 0};
  StoreChecksum(bytes, ComputeChecksum(from, to, bytes, again.covered_bytes()));
  Expect(VerifyChecksum(from, to, again), "a stored checksum is a good one");
}

void ReadPacket(std::span<const std::byte> bytes) {
  PacketView packet;
  if (PacketView::Parse(bytes, &packet, {true}) != ParseError::kNone) return;
  Expect(packet.header().size() + packet.payload().size() == bytes.size(), "nothing is left out");
  Expect(packet.covered_bytes() <= bytes.size(), "the coverage lies within the packet");
  ReadOptions(packet.options());
  WriteAgain(packet);
  Crc32c(packet.payload());
  const SeqNo reference(LoadBe48(bytes.data() + 4));
  const SeqNo extended = ExtendSequenceNumber(packet.seq().low24(), reference);
  Expect(extended.low24() == packet.seq().low24(), "an extended number keeps its low bits");
}

}  // namespace
}  // namespace dccp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  dccp::fuzz::ReadPacket(bytes);
  dccp::fuzz::ReadOptions(bytes);
  dccp::ParseIcmpQuote(bytes);
  return 0;
}
