#include "stack/wire/packet_view.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

// Response, captured from Linux 6.1.192:
//   ports 6000 > 48072, Data Offset 21 (84 bytes), CCVal 0, CsCov 0, checksum fb93
//   X 1, sequence number 00005be5fdce aef8 = 101045088497400
//   acknowledgement number 0082a7b23cd1ec = 143661484953068
//   service code 45464748 "EFGH"
//   options: Timestamp Echo, Timestamp, Confirm R (1: 2, 2), Change L ..., Padding
constexpr char kResponse[] =
    "1770bbc81500fb9303005be5fdceaef8000082a7b23cd1ec454647482a080004ce5f000129060004ce612106010202"
    "03230601020203012004020023050200000120040401230504010101200406010122040601";

TEST(PacketView, ReadsCapturedResponse) {
  const CapturedPacket p = ReadCapture("linux61_wire_vectors.txt")[7];
  PacketView v;
  ASSERT_EQ(PacketView::Parse(p.bytes, &v), ParseError::kNone);
  ASSERT_EQ(ToHex(p.bytes).substr(0, sizeof kResponse - 1), kResponse);
  EXPECT_EQ(v.type(), PacketType::kResponse);
  EXPECT_TRUE(v.extended());
  EXPECT_EQ(v.source_port(), 6000);
  EXPECT_EQ(v.destination_port(), 48072);
  EXPECT_EQ(v.ccval(), 0);
  EXPECT_EQ(v.cscov(), 0);
  EXPECT_EQ(v.checksum(), 0xFB93);
  EXPECT_EQ(v.seq(), SeqNo(0x5BE5FDCEAEF8));
  EXPECT_TRUE(v.has_ack());
  EXPECT_EQ(v.ack(), SeqNo(0x82A7B23CD1EC));
  EXPECT_EQ(v.service_code(), ServiceCode(0x45464748));
  EXPECT_EQ(v.reset_reason(), ResetReason());
  EXPECT_EQ(v.header().size(), 84u);
  EXPECT_EQ(v.options().size(), 84u - 28u);
  EXPECT_EQ(v.options().data(), v.bytes().data() + 28);
  EXPECT_TRUE(v.payload().empty());
  EXPECT_EQ(v.covered_bytes(), 84u);
}

TEST(PacketView, R4340_RST_03_ReadsResetReason) {
  // Reset 5 (Option Error) for Change R, CCID 3 wanted.
  const Bytes b = FromHex("170ebca20700 0000 0f00000000000001 0000 000000000009 05220103");
  PacketView v;
  ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
  EXPECT_EQ(v.reset_reason(), (ResetReason{ResetCode::kOptionError, {0x22, 1, 3}}));
  EXPECT_EQ(v.service_code(), ServiceCode());
  EXPECT_EQ(v.ack(), SeqNo(9));
}

TEST(PacketView, IsTriviallyCopyable) { EXPECT_TRUE(std::is_trivially_copyable_v<PacketView>); }

// A packet of zeros but for type, X and Data Offset, with `bytes` bytes.
Bytes Blank(unsigned type, bool extended, unsigned data_offset, std::size_t bytes,
            unsigned cscov = 0) {
  Bytes b(bytes);
  if (bytes > 4) b[4] = static_cast<std::byte>(data_offset);
  if (bytes > 5) b[5] = static_cast<std::byte>(cscov);
  if (bytes > 8) b[8] = static_cast<std::byte>(type << 1 | (extended ? 1u : 0u));
  return b;
}

struct FixedSize {
  PacketType type;
  std::size_t extended_bytes;
  std::size_t short_bytes;  // 0: must be extended
};
constexpr FixedSize kFixedSizes[] = {
    {PacketType::kRequest, 20, 0}, {PacketType::kResponse, 28, 0}, {PacketType::kData, 16, 12},
    {PacketType::kAck, 24, 16},    {PacketType::kDataAck, 24, 16}, {PacketType::kCloseReq, 24, 0},
    {PacketType::kClose, 24, 0},   {PacketType::kReset, 28, 0},    {PacketType::kSync, 24, 0},
    {PacketType::kSyncAck, 24, 0},
};

TEST(PacketView, R4340_HDR_04_FixedHeaderSizes) {
  for (const FixedSize& s : kFixedSizes) {
    SCOPED_TRACE(ToString(s.type));
    EXPECT_EQ(FixedHeaderBytes(s.type, true), s.extended_bytes);
    if (s.short_bytes != 0) {
      EXPECT_EQ(FixedHeaderBytes(s.type, false), s.short_bytes);
    }
    const auto words = static_cast<unsigned>(s.extended_bytes / 4);
    EXPECT_EQ(ParseExactly(Blank(static_cast<unsigned>(s.type), true, words, s.extended_bytes)),
              ParseError::kNone);
  }
}

TEST(PacketView, R4340_HDR_03_Bug_F4_Cve_2014_2523_DataOffsetBelowFixedHeaderOrBeyondPacket) {
  constexpr std::size_t kBytes = 64;
  for (const FixedSize& s : kFixedSizes) {
    for (const bool extended : {true, false}) {
      const std::size_t fixed = extended ? s.extended_bytes : s.short_bytes;
      if (fixed == 0) continue;
      for (unsigned offset = 0; offset < 256; ++offset) {
        const bool good = offset * 4 >= fixed && offset * 4 <= kBytes;
        EXPECT_EQ(ParseExactly(Blank(static_cast<unsigned>(s.type), extended, offset, kBytes)),
                  good ? ParseError::kNone : ParseError::kBadDataOffset)
            << ToString(s.type) << " X " << extended << " Data Offset " << offset;
      }
    }
  }
}

TEST(PacketView, R4340_HDR_02_DataOffsetIsWherePayloadStarts) {
  Bytes b = Blank(2, true, 6, 27);
  b[24] = std::byte{0xAB};
  PacketView v;
  ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
  EXPECT_EQ(v.options().size(), 8u);
  ASSERT_EQ(v.payload().size(), 3u);
  EXPECT_EQ(v.payload()[0], std::byte{0xAB});
}

TEST(PacketView, R4340_HDR_09_ReservedTypesAreUnknown) {
  for (unsigned type = 10; type < 16; ++type) {
    for (const bool extended : {true, false}) {
      const Bytes b = Blank(type, extended, 7, 40);
      PacketView v;
      EXPECT_EQ(PacketView::Parse(b, &v), ParseError::kUnknownType) << type;
      if (type > 10) {
        EXPECT_EQ(PacketView::Parse(b, &v, {.allow_listen = true}), ParseError::kUnknownType);
      }
    }
  }
}

TEST(PacketView, R5596_FMT_02_ListenIsParsedWhenAllowed) {
  Bytes b = Blank(10, true, 5, 20);
  b[16] = std::byte{0x64};
  PacketView v;
  ASSERT_EQ(PacketView::Parse(b, &v, {.allow_listen = true}), ParseError::kNone);
  EXPECT_EQ(v.type(), PacketType::kListen);
  EXPECT_FALSE(v.has_ack());
  EXPECT_EQ(v.service_code(), ServiceCode(0x64000000));
  EXPECT_EQ(PacketView::Parse(Blank(10, false, 5, 20), &v, {.allow_listen = true}),
            ParseError::kShortSeqnoNotAllowed);
  EXPECT_EQ(PacketView::Parse(Blank(10, true, 4, 20), &v, {.allow_listen = true}),
            ParseError::kBadDataOffset);
}

TEST(PacketView, R4340_HDR_11_Bug_F5_ShortNumbersOnOtherTypesAreRefused) {
  for (const FixedSize& s : kFixedSizes) {
    const Bytes b = Blank(static_cast<unsigned>(s.type), false, 7, 40);
    EXPECT_EQ(ParseExactly(b),
              s.short_bytes != 0 ? ParseError::kNone : ParseError::kShortSeqnoNotAllowed)
        << ToString(s.type);
  }
}

TEST(PacketView, R4340_HDR_12_ShortFormKeepsTheLow24Bits) {
  // DataAck, X = 0: sequence number abcdef, acknowledgement number 123456, one byte of data.
  const Bytes b = FromHex("000100020400ffff 08abcdef 00123456 77");
  PacketView v;
  ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
  EXPECT_FALSE(v.extended());
  EXPECT_EQ(v.seq(), SeqNo(0xABCDEF));
  EXPECT_EQ(v.ack(), SeqNo(0x123456));
  EXPECT_EQ(ToHex(v.payload()), "77");
}

TEST(PacketView, R4340_HDR_15_TypesWithAcknowledgementNumber) {
  for (const FixedSize& s : kFixedSizes) {
    Bytes b = Blank(static_cast<unsigned>(s.type), true, 7, 28);
    std::fill(b.begin() + 16, b.begin() + 24, std::byte{0x11});
    PacketView v;
    ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
    const bool none = s.type == PacketType::kRequest || s.type == PacketType::kData;
    EXPECT_EQ(v.has_ack(), !none) << ToString(s.type);
    EXPECT_EQ(v.ack(), SeqNo(none ? 0 : 0x111111111111)) << ToString(s.type);
  }
}

TEST(PacketView, R4340_GEN_04_ReservedBitsChangeNothing) {
  for (const CapturedPacket& p : AllCaptured()) {
    Bytes b = p.bytes;
    b[8] |= std::byte{0xE0};
    b[9] = std::byte{0xFF};
    PacketView v;
    ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
    if (v.has_ack()) b[16] = b[17] = std::byte{0xFF};
    EXPECT_EQ(p.type, ToString(v.type()));
    EXPECT_EQ(v.seq().value(), p.seq);
    EXPECT_EQ(v.ack().value(), p.ack.value_or(0));
    EXPECT_EQ(v.header().size(), p.header.size());
  }
}

TEST(PacketView, R4340_CSM_05_CoverageBeyondTheDataIsRefused) {
  for (unsigned cscov = 0; cscov < 16; ++cscov) {
    for (std::size_t payload = 0; payload < 64; ++payload) {
      const bool fits = cscov == 0 || (cscov - 1) * 4 <= payload;
      const Bytes b = Blank(2, true, 4, 16 + payload, cscov);
      EXPECT_EQ(ParseExactly(b), fits ? ParseError::kNone : ParseError::kBadChecksumCoverage)
          << "CsCov " << cscov << ", " << payload << " bytes";
      PacketView v;
      if (!fits || PacketView::Parse(b, &v) != ParseError::kNone) continue;
      EXPECT_EQ(v.covered_bytes(), 16 + (cscov == 0 ? payload : (cscov - 1) * 4));
    }
  }
}

// The first failing test of the list names the error, whatever else is wrong.
TEST(PacketView, R4340_EVT_01_OrderOfTests) {
  EXPECT_EQ(ParseExactly(Blank(15, false, 0, 11, 15)), ParseError::kTooShort);
  EXPECT_EQ(ParseExactly(Blank(15, false, 0, 12, 15)), ParseError::kUnknownType);
  EXPECT_EQ(ParseExactly(Blank(0, false, 3, 12, 15)), ParseError::kBadDataOffset);
  EXPECT_EQ(ParseExactly(Blank(0, false, 5, 20, 15)), ParseError::kShortSeqnoNotAllowed);
  EXPECT_EQ(ParseExactly(Blank(0, true, 5, 20, 15)), ParseError::kBadChecksumCoverage);
  EXPECT_EQ(ParseExactly(Blank(0, true, 5, 20, 1)), ParseError::kNone);
}

TEST(PacketView, FailedParseLeavesTheViewAlone) {
  const Bytes good = Blank(2, true, 4, 20);
  PacketView v;
  ASSERT_EQ(PacketView::Parse(good, &v), ParseError::kNone);
  EXPECT_EQ(PacketView::Parse(Blank(11, true, 4, 20), &v), ParseError::kUnknownType);
  EXPECT_EQ(v.bytes().data(), good.data());
}

TEST(PacketView, ErrorsHaveNames) {
  EXPECT_STREQ(ToString(ParseError::kNone), "none");
  EXPECT_STREQ(ToString(ParseError::kBadDataOffset), "bad Data Offset");
  EXPECT_STREQ(ToString(static_cast<ParseError>(99)), "?");
}

TEST(PacketView, R4340_SVC_02_AnyServiceCodeIsReadAsItIs) {
  for (const std::uint32_t code : {0u, 0xFFFFFFFFu, 0x44495343u}) {
    Bytes b = Blank(0, true, 5, 20);
    for (unsigned i = 0; i < 4; ++i) b[16 + i] = static_cast<std::byte>(code >> (24 - 8 * i));
    PacketView v;
    ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
    EXPECT_EQ(v.service_code(), ServiceCode(code));
    EXPECT_EQ(v.service_code().valid(), code != 0xFFFFFFFFu);
  }
}

}  // namespace
}  // namespace dccp
