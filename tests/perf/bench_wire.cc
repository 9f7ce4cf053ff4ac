// Cost of the wire layer per packet: parse, write, checksum, CRC-32c, options.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "dccp/option_writer.h"
#include "stack/wire/ack_vector_codec.h"
#include "stack/wire/checksum.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"

namespace dccp {
namespace {

// A DataAck with an Ack Vector and NDP Count, or a Data packet without options.
std::vector<std::byte> MakePacket(PacketType type, std::size_t payload_bytes) {
  std::array<std::byte, 64> buffer;
  OptionWriter options(buffer);
  if (type == PacketType::kDataAck) {
    for (std::byte& b : options.Reserve(OptionType::kAckVectorNonce0, 8)) b = EncodeAckCell({});
    AddNdpCount(options, 1);
    options.Pad();
  }
  const std::size_t header = FixedHeaderBytes(type, true) + options.size();
  std::vector<std::byte> packet(header + payload_bytes, std::byte{0x5A});
  HeaderFields fields;
  fields.type = type;
  fields.seq = SeqNo(0x123456789ABC);
  fields.ack = SeqNo(0xABCDEF012345);
  WriteHeader(fields, options.bytes(), std::span(packet).first(header));
  return packet;
}

void BM_Parse(benchmark::State& state) {
  const auto packet = MakePacket(static_cast<PacketType>(state.range(0)), 1420);
  for (auto _ : state) {
    PacketView v;
    benchmark::DoNotOptimize(packet.data());
    benchmark::ClobberMemory();
    const ParseError error = PacketView::Parse(packet, &v);
    benchmark::DoNotOptimize(error);
    benchmark::DoNotOptimize(v.seq().value() + v.ack().value());
  }
}
BENCHMARK(BM_Parse)->Arg(2)->Arg(4)->ArgName("type");

void BM_ReadOptions(benchmark::State& state) {
  const auto packet = MakePacket(PacketType::kDataAck, 0);
  PacketView v;
  if (PacketView::Parse(packet, &v) != ParseError::kNone) state.SkipWithError("no packet");
  for (auto _ : state) {
    benchmark::ClobberMemory();
    OptionReader reader(v.options());
    for (OptionView o; reader.Next(&o);) benchmark::DoNotOptimize(o.data.data());
  }
}
BENCHMARK(BM_ReadOptions);

void BM_WriteHeader(benchmark::State& state) {
  const auto type = static_cast<PacketType>(state.range(0));
  std::array<std::byte, 64> out;
  HeaderFields fields;
  fields.type = type;
  const auto header = std::span(out).first(FixedHeaderBytes(type, true));
  for (auto _ : state) {
    fields.seq = fields.seq + 1;
    WriteHeader(fields, {}, header);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_WriteHeader)->Arg(2)->Arg(4)->ArgName("type");

void BM_WriteOptions(benchmark::State& state) {
  std::array<std::byte, 64> buffer;
  for (auto _ : state) {
    OptionWriter w(buffer);
    for (std::byte& b : w.Reserve(OptionType::kAckVectorNonce0, 8)) b = EncodeAckCell({});
    AddNdpCount(w, 1);
    AddTimestampEcho(w, {TenMicros(1), TenMicros(2)});
    w.Pad();
    benchmark::DoNotOptimize(buffer.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_WriteOptions);

void BM_Checksum(benchmark::State& state) {
  const auto packet = MakePacket(PacketType::kData, static_cast<std::size_t>(state.range(0)));
  const PseudoHeader pseudo_header(IpAddress{}, IpAddress{});
  for (auto _ : state) {
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(pseudo_header.Compute(packet, packet.size()));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(packet.size()));
}
BENCHMARK(BM_Checksum)->Arg(0)->Arg(32)->Arg(256)->Arg(1420)->ArgName("payload");

void BM_Crc32c(benchmark::State& state) {
  const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)), std::byte{0x5A});
  for (auto _ : state) {
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(Crc32c(data));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(32)->Arg(256)->Arg(1420)->ArgName("bytes");

}  // namespace
}  // namespace dccp

BENCHMARK_MAIN();
