#include "stack/wire/packet_writer.h"

#include <gtest/gtest.h>

#include "stack/wire/packet_view.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

Bytes Write(const HeaderFields& f, const Bytes& options = {}) {
  Bytes out(FixedHeaderBytes(f.type, f.extended) + options.size(), std::byte{0xEE});
  WriteHeader(f, options, out);
  return out;
}

// Close, captured from Linux 6.1.192: ports 48072 > 6000, CCVal 0, an Ack Vector and padding.
TEST(PacketWriter, WritesCapturedCloses) {
  int closes = 0;
  for (const CapturedPacket& p : ReadCapture("linux61_wire_vectors.txt")) {
    if (p.type != "Close") continue;
    PacketView v;
    ASSERT_EQ(PacketView::Parse(p.bytes, &v), ParseError::kNone);
    HeaderFields f;
    f.type = PacketType::kClose;
    f.source_port = v.source_port();
    f.destination_port = v.destination_port();
    f.seq = SeqNo(p.seq);
    f.ack = SeqNo(p.ack.value());
    Bytes out = Write(f, Bytes(v.options().begin(), v.options().end()));
    StoreChecksum(out, v.checksum());
    EXPECT_EQ(ToHex(out), ToHex(p.bytes));
    ++closes;
  }
  EXPECT_EQ(closes, 23);
}

HeaderFields Golden(PacketType type, bool extended) {
  HeaderFields f;
  f.source_port = 0x0102;
  f.destination_port = 0x0304;
  f.ccval = 0xA;
  f.cscov = 0x5;
  f.type = type;
  f.extended = extended;
  f.seq = SeqNo(0x112233445566);
  f.ack = SeqNo(0x778899AABBCC);
  f.service_code = ServiceCode(0xDDEEFF01);
  f.reset = {ResetCode::kMandatoryError, {0x21, 0x43, 0x65}};
  return f;
}

TEST(PacketWriter, R4340_GEN_01_Bug_F3_GoldenBytesOfEveryType) {
  const std::string ports = "01020304";
  const std::string seq = "00112233445566";
  const std::string ack = "0000778899aabbcc";
  const struct {
    PacketType type;
    std::string hex;
  } golden[] = {
      {PacketType::kRequest, ports + "05a5000001" + seq + "ddeeff01"},
      {PacketType::kResponse, ports + "07a5000003" + seq + ack + "ddeeff01"},
      {PacketType::kData, ports + "04a5000005" + seq},
      {PacketType::kAck, ports + "06a5000007" + seq + ack},
      {PacketType::kDataAck, ports + "06a5000009" + seq + ack},
      {PacketType::kCloseReq, ports + "06a500000b" + seq + ack},
      {PacketType::kClose, ports + "06a500000d" + seq + ack},
      {PacketType::kReset, ports + "07a500000f" + seq + ack + "06214365"},
      {PacketType::kSync, ports + "06a5000011" + seq + ack},
      {PacketType::kSyncAck, ports + "06a5000013" + seq + ack},
      {PacketType::kListen, ports + "05a5000015" + seq + "ddeeff01"},
  };
  for (const auto& g : golden) EXPECT_EQ(ToHex(Write(Golden(g.type, true))), g.hex);
}

TEST(PacketWriter, R4340_HDR_12_GoldenBytesOfShortForms) {
  EXPECT_EQ(ToHex(Write(Golden(PacketType::kData, false))), "0102030403a5000004445566");
  EXPECT_EQ(ToHex(Write(Golden(PacketType::kAck, false))), "0102030404a500000644556600aabbcc");
  EXPECT_EQ(ToHex(Write(Golden(PacketType::kDataAck, false))), "0102030404a500000844556600aabbcc");
}

TEST(PacketWriter, R4340_GEN_03_ReservedBitsAreZeroWhateverWasThere) {
  for (unsigned t = 0; t <= 10; ++t) {
    const Bytes b = Write(Golden(static_cast<PacketType>(t), true));
    EXPECT_EQ(std::to_integer<unsigned>(b[8]) & 0xE0u, 0u);
    EXPECT_EQ(std::to_integer<unsigned>(b[9]), 0u);
    if (HasAckNumber(static_cast<PacketType>(t))) {
      EXPECT_EQ(ToHex(std::span(b).subspan(16, 2)), "0000");
    }
  }
}

TEST(PacketWriter, ReadsBackWhatItWrote) {
  for (unsigned t = 0; t <= 10; ++t) {
    for (const bool extended : {true, false}) {
      const auto type = static_cast<PacketType>(t);
      if (!extended && !MayUseShortSeqno(type)) continue;
      HeaderFields f = Golden(type, extended);
      f.cscov = 1;
      const Bytes b = Write(f, FromHex("00000001"));
      PacketView v;
      ASSERT_EQ(PacketView::Parse(b, &v, {.allow_listen = true}), ParseError::kNone);
      EXPECT_EQ(v.type(), type);
      EXPECT_EQ(v.extended(), extended);
      EXPECT_EQ(v.ccval(), 0xA);
      EXPECT_EQ(v.cscov(), 1);
      EXPECT_EQ(v.checksum(), 0);
      EXPECT_EQ(v.seq(), SeqNo(extended ? 0x112233445566 : 0x445566));
      if (v.has_ack()) {
        EXPECT_EQ(v.ack(), SeqNo(extended ? 0x778899AABBCC : 0xAABBCC));
      }
      if (HasServiceCode(type)) {
        EXPECT_EQ(v.service_code(), f.service_code);
      }
      if (type == PacketType::kReset) {
        EXPECT_EQ(v.reset_reason(), f.reset);
      }
      EXPECT_EQ(ToHex(v.options()), "00000001");
    }
  }
}

TEST(PacketWriter, OptionsInPlaceAreKept) {
  HeaderFields f = Golden(PacketType::kData, true);
  Bytes out(24, std::byte{0xEE});
  const Bytes options = FromHex("2503050000000000");
  std::copy(options.begin(), options.end(), out.begin() + 16);
  WriteHeader(f, std::span(out).subspan(16), out);
  EXPECT_EQ(ToHex(std::span(out).subspan(16)), "2503050000000000");
  EXPECT_EQ(ToHex(std::span(out).first(6)), "0102030406a5");
}

TEST(PacketWriter, StoresTheChecksumInNetworkOrder) {
  Bytes out = Write(Golden(PacketType::kData, true));
  StoreChecksum(out, 0xBEEF);
  EXPECT_EQ(ToHex(std::span(out).subspan(4, 5)), "04a5beef05");
}

TEST(PacketWriter, R4340_HDR_17_LargestHeader) {
  const HeaderFields f = Golden(PacketType::kData, true);
  const Bytes b = Write(f, Bytes(kMaxHeaderBytes - 16));
  EXPECT_EQ(std::to_integer<unsigned>(b[4]), 255u);
  EXPECT_DEATH(Write(f, Bytes(kMaxHeaderBytes - 12)), "kMaxHeaderBytes");
}

TEST(PacketWriterDeath, R4340_HDR_10_ShortNumbersOnlyWhereAllowed) {
  EXPECT_DEATH(Write(Golden(PacketType::kSync, false)), "MayUseShortSeqno");
}

TEST(PacketWriterDeath, R4340_OPT_03_OptionsComeInWholeWords) {
  EXPECT_DEATH(Write(Golden(PacketType::kAck, true), FromHex("000000")), "options.size");
}

}  // namespace
}  // namespace dccp
