// Every captured packet of a real kernel, through the whole layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stack/wire/checksum.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/packet_writer.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

HeaderFields FieldsOf(const PacketView& v) {
  return {.source_port = v.source_port(),
          .destination_port = v.destination_port(),
          .ccval = v.ccval(),
          .cscov = v.cscov(),
          .type = v.type(),
          .extended = v.extended(),
          .seq = v.seq(),
          .ack = v.ack(),
          .service_code = v.service_code(),
          .reset = v.reset_reason()};
}

PacketView MustParse(const Bytes& bytes) {
  PacketView view;
  EXPECT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone) << ToHex(bytes);
  return view;
}

TEST(CapturedPackets, ThereAreAsManyAsCaptured) {
  EXPECT_EQ(ReadCapture("linux61_wire_vectors.txt").size(), 167u);
  const auto more = ReadCapture("linux61_more_vectors.txt");
  std::set<std::string> types;
  int v6 = 0;
  for (const CapturedPacket& p : more) {
    types.insert(p.type);
    v6 += p.source.family == IpFamily::kV6 ? 1 : 0;
  }
  EXPECT_EQ(v6, 124);
  EXPECT_THAT(types, ::testing::IsSupersetOf({"Data", "DataAck", "Sync", "SyncAck", "Reset"}));
}

TEST(CapturedPackets, R4340_HDR_01_FieldsAgreeWithTshark) {
  for (const CapturedPacket& p : AllCaptured()) {
    const PacketView v = MustParse(p.bytes);
    SCOPED_TRACE(ToHex(p.header));
    EXPECT_EQ(p.type, ToString(v.type()));
    EXPECT_EQ(v.seq().value(), p.seq);
    EXPECT_EQ(v.has_ack(), p.ack.has_value());
    EXPECT_EQ(v.ack().value(), p.ack.value_or(0));
    EXPECT_EQ(v.header().size(), p.header.size());
    EXPECT_EQ(v.bytes().size(), p.bytes.size());
    EXPECT_EQ(v.header().size() + v.payload().size(), p.bytes.size());
  }
}

TEST(CapturedPackets, R4340_CSM_02_ChecksumsAreGoodOverBothFamilies) {
  for (const CapturedPacket& p : AllCaptured()) {
    const PacketView v = MustParse(p.bytes);
    SCOPED_TRACE(ToHex(p.header));
    EXPECT_TRUE(VerifyChecksum(p.source, p.destination, v));
    EXPECT_EQ(DccpChecksum(p.source, p.destination, v.bytes(), v.covered_bytes()), 0);
    EXPECT_EQ(ComputeChecksum(p.source, p.destination, v.bytes(), v.covered_bytes()), v.checksum());
  }
}

TEST(CapturedPackets, RewrittenHeaderIsIdentical) {
  for (const CapturedPacket& p : AllCaptured()) {
    const PacketView v = MustParse(p.bytes);
    Bytes out = p.bytes;
    std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(p.header.size()),
              std::byte{0xEE});
    WriteHeader(FieldsOf(v), v.options(), std::span(out).first(p.header.size()));
    StoreChecksum(out, ComputeChecksum(p.source, p.destination, out, v.covered_bytes()));
    EXPECT_EQ(ToHex(out), ToHex(p.bytes));
  }
}

TEST(CapturedPackets, AllOptionsDecode) {
  std::map<OptionType, int> seen;
  for (const CapturedPacket& p : AllCaptured()) {
    const Decoded d = DecodeEverything(MustParse(p.bytes));
    SCOPED_TRACE(ToHex(p.header));
    EXPECT_FALSE(d.malformed);
    EXPECT_TRUE(d.refused.empty());
    for (const auto& [type, count] : d.taken) seen[type] += count;
  }
  for (OptionType t :
       {OptionType::kMandatory, OptionType::kChangeL, OptionType::kConfirmL, OptionType::kChangeR,
        OptionType::kConfirmR, OptionType::kNdpCount, OptionType::kAckVectorNonce0,
        OptionType::kTimestamp, OptionType::kTimestampEcho})
    EXPECT_GT(seen[t], 0) << ToString(t);
}

// What is cut off decides: header or covered data (an error), or other data (a shorter packet).
TEST(CapturedPackets, R4340_HDR_03_EveryTruncationIsAnErrorOrAShorterPacket) {
  for (const CapturedPacket& p : AllCaptured()) {
    const PacketView whole = MustParse(p.bytes);
    const std::size_t covered = whole.cscov() == 0 ? 0 : whole.covered_bytes();
    for (std::size_t n = 0; n < p.bytes.size(); ++n) {
      const ParseError error = ParseExactly(std::span(p.bytes).first(n));
      SCOPED_TRACE(ToHex(p.header) + " cut to " + std::to_string(n));
      if (n < 12)
        ASSERT_EQ(error, ParseError::kTooShort);
      else if (n < p.header.size())
        ASSERT_EQ(error, ParseError::kBadDataOffset);
      else
        ASSERT_EQ(error, n < covered ? ParseError::kBadChecksumCoverage : ParseError::kNone);
    }
  }
}

TEST(CapturedPackets, R4340_CSM_03_EveryFlippedHeaderBitSpoilsTheChecksum) {
  for (const CapturedPacket& p : ReadCapture("linux61_wire_vectors.txt")) {
    Bytes bytes = p.bytes;
    const std::size_t covered = MustParse(p.bytes).covered_bytes();
    for (std::size_t bit = 0; bit < p.header.size() * 8; ++bit) {
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      ASSERT_NE(DccpChecksum(p.source, p.destination, bytes, covered), 0)
          << ToHex(p.header) << " bit " << bit;
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
  }
}

}  // namespace
}  // namespace dccp
