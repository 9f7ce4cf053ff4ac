#include "stack/trace/pcap_sink.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "stack/base/byte_order.h"
#include "stack/wire/checksum.h"
#include "tests/unit/trace/trace_fixture.h"

namespace dccp {
namespace {

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;

std::uint32_t Le32(const std::string& s, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 4; i > 0; --i) v = v << 8 | static_cast<unsigned char>(s[at + i - 1]);
  return v;
}

// The IP packet of the first record.
std::vector<std::byte> FirstPacket(const std::string& file) {
  std::vector<std::byte> out;
  const std::size_t start = kFileHeader + kRecordHeader;
  for (std::size_t i = 0; i < Le32(file, kFileHeader + 8); ++i) {
    out.push_back(static_cast<std::byte>(file.at(start + i)));
  }
  return out;
}

std::uint16_t OnesComplementSum(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += LoadBe16(bytes.data() + i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

TEST(PcapSink, FileHeaderSaysNanosecondsAndRawIp) {
  MemoryWriter writer;
  const PcapSink sink(writer);
  ASSERT_EQ(writer.text.size(), kFileHeader);
  EXPECT_EQ(Le32(writer.text, 0), 0xA1B23C4Du);
  EXPECT_EQ(Le32(writer.text, 4), 0x00040002u);
  EXPECT_EQ(Le32(writer.text, 20), 101u);
}

TEST(PcapSink, MakesAnIpv4HeaderAndTheChecksumThatUdpLeftOut) {
  MemoryWriter writer;
  PcapSink sink(writer, std::chrono::seconds(1'700'000'000));
  const auto request = RequestPacket();
  sink.OnPacket(
      {kConn, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, request, Ecn::kEct0});
  EXPECT_EQ(Le32(writer.text, kFileHeader), 1'700'000'001u);
  EXPECT_EQ(Le32(writer.text, kFileHeader + 4), 12'000'000u);
  EXPECT_EQ(Le32(writer.text, kFileHeader + 8), Le32(writer.text, kFileHeader + 12));

  const auto ip = FirstPacket(writer.text);
  ASSERT_EQ(ip.size(), 40u);
  const auto head = std::span(ip).first(20);
  EXPECT_EQ(OnesComplementSum(head), 0xFFFF);
  EXPECT_EQ(Load8(ip.data() + 1), 2u);  // ECT(0)
  EXPECT_EQ(LoadBe16(ip.data() + 2), 40u);
  EXPECT_EQ(Load8(ip.data() + 8), 64u);
  EXPECT_EQ(Load8(ip.data() + 9), 33u);
  EXPECT_EQ(LoadBe32(ip.data() + 12), 0xC0000201u);
  EXPECT_EQ(LoadBe32(ip.data() + 16), 0xC0000202u);

  const auto dccp = std::span(ip).subspan(20);
  EXPECT_NE(LoadBe16(dccp.data() + 6), 0u);
  EXPECT_EQ(DccpChecksum(V4(1), V4(2), dccp, dccp.size()), 0u);
  EXPECT_EQ(sink.packets_written(), 1u);
}

TEST(PcapSink, MakesAnIpv6HeaderWithTheSenderFirst) {
  MemoryWriter writer;
  PcapSink sink(writer);
  const auto reset = ResetPacket();
  sink.OnPacket(
      {kConn, Direction::kReceived, kTime, kV6Path, Encapsulation::kNative, reset, Ecn::kCe});
  const auto ip = FirstPacket(writer.text);
  ASSERT_EQ(ip.size(), 40 + reset.size());
  EXPECT_EQ(LoadBe32(ip.data()), 0x60300000u);
  EXPECT_EQ(LoadBe16(ip.data() + 4), reset.size());
  EXPECT_EQ(Load8(ip.data() + 6), 33u);
  EXPECT_EQ(Load8(ip.data() + 7), 64u);
  EXPECT_EQ(Load8(ip.data() + 23), 2u);  // received: from the remote address
  EXPECT_EQ(Load8(ip.data() + 39), 1u);
}

TEST(PcapSink, LeavesANativePacketAsItWas) {
  MemoryWriter writer;
  PcapSink sink(writer);
  auto request = RequestPacket();
  request[6] = std::byte{0xBA};
  request[7] = std::byte{0xD0};
  sink.OnPacket(
      {kConn, Direction::kReceived, kTime, kV4Path, Encapsulation::kNative, request, Ecn::kNotEct});
  const auto ip = FirstPacket(writer.text);
  EXPECT_TRUE(std::equal(request.begin(), request.end(), ip.begin() + 20));
}

TEST(PcapSink, ChecksumCoversWhatCsCovSays) {
  MemoryWriter writer;
  PcapSink sink(writer);
  auto request = RequestPacket();
  request[5] = std::byte{1};  // the header only
  request.resize(request.size() + 100, std::byte{0x77});
  sink.OnPacket(
      {kConn, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, request, Ecn::kNotEct});
  const auto ip = FirstPacket(writer.text);
  EXPECT_EQ(DccpChecksum(V4(1), V4(2), std::span(ip).subspan(20), 20), 0u);
}

TEST(PcapSink, WritesGarbageUnchanged) {
  for (const std::size_t size : {0u, 1u, 7u, 11u, 12u, 100u}) {
    MemoryWriter writer;
    PcapSink sink(writer);
    const std::vector<std::byte> garbage(size, std::byte{0xFF});
    sink.OnPacket(
        {{}, Direction::kReceived, kTime, kV4Path, Encapsulation::kUdp, garbage, Ecn::kNotEct});
    const auto ip = FirstPacket(writer.text);
    ASSERT_EQ(ip.size(), 20 + size);
    EXPECT_TRUE(std::equal(garbage.begin(), garbage.end(), ip.begin() + 20)) << size;
  }
}

TEST(PcapSink, SkipsWhatNoIpPacketHolds) {
  MemoryWriter writer;
  PcapSink sink(writer);
  const std::vector<std::byte> large(65516);
  sink.OnPacket({{}, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, large, Ecn::kNotEct});
  EXPECT_EQ(sink.packets_skipped(), 1u);
  sink.OnPacket({{}, Direction::kSent, kTime, kV6Path, Encapsulation::kUdp, large, Ecn::kNotEct});
  EXPECT_EQ(sink.packets_written(), 1u);
}

TEST(PcapSink, CountsWhatTheWriterRefuses) {
  MemoryWriter writer;
  PcapSink sink(writer);
  writer.fail = true;
  const auto request = RequestPacket();
  sink.OnPacket(
      {kConn, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, request, Ecn::kNotEct});
  EXPECT_EQ(sink.packets_written(), 0u);
  EXPECT_EQ(sink.packets_skipped(), 1u);
}

}  // namespace
}  // namespace dccp
