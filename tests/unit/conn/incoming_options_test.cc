#include "stack/conn/incoming_options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "stack/wire/packet_writer.h"

namespace dccp {
namespace {

constexpr std::array<OptionType, 1> kSenderOptions = {static_cast<OptionType>(193)};
constexpr std::array<OptionType, 1> kReceiverOptions = {static_cast<OptionType>(130)};

// A packet of `type` with this option area, and what scanning it says.
struct Scan {
  Scan(PacketType type, std::initializer_list<int> area) : features(Role::kServer) {
    std::vector<std::byte> options;
    for (int b : area) options.push_back(static_cast<std::byte>(b));
    while (options.size() % 4 != 0) options.push_back(std::byte{0});
    bytes.resize(FixedHeaderBytes(type, true) + options.size());
    HeaderFields fields;
    fields.type = type;
    fields.seq = SeqNo(100);
    fields.ack = SeqNo(50);
    WriteHeader(fields, options, bytes);
    EXPECT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone);
    features.Start(Seq64::FromInitial(SeqNo(50)));
    features.OnPeerInitial(Seq64::FromInitial(SeqNo(99)));
    OptionScanContext context;
    context.packet = {type, Seq64::FromInitial(SeqNo(100)), Seq64::FromInitial(SeqNo(50))};
    sender.options = kSenderOptions;
    receiver.options = kReceiverOptions;
    context.sender = &sender;
    context.receiver = &receiver;
    fault = ScanOptions(view, context, features, &out);
  }

  FeatureNegotiator features;
  CcidTraits sender{CcidId::k3, "s", 0, false, {}, {}};
  CcidTraits receiver{CcidId::k3, "r", 0, false, {}, {}};
  std::vector<std::byte> bytes;
  PacketView view;
  IncomingOptions out;
  std::optional<ResetReason> fault;
};

ResetReason Reason(ResetCode code, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
  return {code, {a, b, c}};
}

TEST(IncomingOptions, R4340_OPT_05_DecodesInOrderAndTheLastCounts) {
  const Scan s(PacketType::kAck, {41, 6, 0, 0, 0, 9, 43, 4, 0, 7, 43, 4, 0, 8, 37, 3, 5, 2});
  EXPECT_FALSE(s.fault);
  EXPECT_EQ(s.out.timestamp, TenMicros(9));
  EXPECT_EQ(s.out.elapsed, TenMicros(8));
  EXPECT_EQ(s.out.ndp, 5u);
  EXPECT_TRUE(s.out.slow_receiver);
}

TEST(IncomingOptions, R4340_OPT_06_UnknownOptionsAreIgnored) {
  const Scan s(PacketType::kAck, {60, 4, 1, 2, 5, 37, 3, 9});
  EXPECT_FALSE(s.fault);
  EXPECT_EQ(s.out.ndp, 9u);
}

TEST(IncomingOptions, R4340_RST_03_Bug_B23_MandatoryBeforeAnUnknownOption) {
  const Scan s(PacketType::kAck, {1, 45, 5, 0xAA, 0xBB, 0xCC});
  EXPECT_EQ(s.fault, Reason(ResetCode::kMandatoryError, 45, 0xAA, 0xBB));
}

TEST(IncomingOptions, R4340_OPT_11_MandatoryPaddingIsTwoPaddings) {
  const Scan s(PacketType::kAck, {1, 0, 45, 5, 1, 2, 3, 37, 3, 4});
  EXPECT_FALSE(s.fault);
  EXPECT_EQ(s.out.ndp, 4u);
}

TEST(IncomingOptions, R4340_OPT_13_16_MandatoryOnDataMeansNothing) {
  const Scan s(PacketType::kData, {1, 45, 3, 255, 1, 1, 37, 3, 4, 1});
  EXPECT_FALSE(s.fault);
  EXPECT_EQ(s.out.ndp, 4u);
}

TEST(IncomingOptions, R4340_OPT_14_Bug_B1_MandatoryTwiceOrLast) {
  const Scan twice(PacketType::kAck, {1, 1, 37, 3, 4});
  EXPECT_EQ(twice.fault, Reason(ResetCode::kOptionError, 1, 0, 0));
  const Scan last(PacketType::kAck, {37, 3, 4, 1});
  EXPECT_EQ(last.fault, Reason(ResetCode::kOptionError, 1, 0, 0));
}

TEST(IncomingOptions, R4340_OPT_14_MandatoryBeforeNonsenseLength) {
  const Scan s(PacketType::kAck, {37, 3, 4, 1, 60, 200, 7, 8});
  EXPECT_EQ(s.fault, Reason(ResetCode::kMandatoryError, 60, 7, 8));
}

TEST(IncomingOptions, R4340_OPT_07_Bug_B4_NonsenseLengthEndsTheList) {
  for (int length : {0, 1, 255}) {
    const Scan s(PacketType::kAck, {37, 3, 4, 60, length, 43, 4, 0, 1});
    EXPECT_FALSE(s.fault);
    EXPECT_EQ(s.out.ndp, 4u);
    EXPECT_FALSE(s.out.elapsed);
  }
}

TEST(IncomingOptions, R4340_OPT_09_WrongLengthOfAKnownOption) {
  const Scan s(PacketType::kAck, {44, 4, 1, 2, 41, 5, 1, 2, 3});
  EXPECT_FALSE(s.fault);
  EXPECT_FALSE(s.out.data_checksum);
  EXPECT_FALSE(s.out.timestamp);
  const Scan mandatory(PacketType::kAck, {1, 44, 4, 1, 2});
  EXPECT_EQ(mandatory.fault, Reason(ResetCode::kMandatoryError, 44, 1, 2));
}

TEST(IncomingOptions, R4340_OPT_10_17_AckOptionsMeanNothingOnData) {
  const Scan s(PacketType::kData,
               {38, 3, 0, 43, 4, 0, 1, 40, 3, 0x90, 32, 4, 5, 9, 36, 3, 1, 41, 6, 0, 0, 0, 3});
  EXPECT_FALSE(s.fault);
  EXPECT_TRUE(s.out.ack_vectors.empty());
  EXPECT_TRUE(s.out.data_dropped.empty());
  EXPECT_FALSE(s.out.elapsed);
  EXPECT_EQ(s.out.timestamp, TenMicros(3));
  EXPECT_TRUE(s.features.AllStable());
}

TEST(IncomingOptions, R4340_FT_17_CcidOptionsGoToTheirHalfConnection) {
  const Scan s(PacketType::kAck, {193, 4, 1, 2, 130, 3, 5, 194, 3, 6, 131, 3, 7});
  EXPECT_FALSE(s.fault);
  ASSERT_EQ(s.out.to_sender.view().size(), 1u);
  EXPECT_EQ(static_cast<int>(s.out.to_sender.view()[0].type), 193);
  EXPECT_EQ(s.out.to_sender.view()[0].data.size(), 2u);
  ASSERT_EQ(s.out.to_receiver.view().size(), 1u);
  EXPECT_EQ(static_cast<int>(s.out.to_receiver.view()[0].type), 130);
  const Scan unknown(PacketType::kAck, {1, 194, 3, 6});
  EXPECT_EQ(unknown.fault, Reason(ResetCode::kMandatoryError, 194, 6, 0));
}

TEST(IncomingOptions, R4340_AV_03_SeveralAckVectorsContinueEachOther) {
  const Scan s(PacketType::kAck, {38, 4, 0, 192, 39, 3, 5});
  const auto vectors = s.out.ack_vectors.view();
  ASSERT_EQ(vectors.size(), 2u);
  EXPECT_FALSE(vectors[0].nonce_echo);
  EXPECT_EQ(vectors[0].cells.size(), 2u);
  EXPECT_TRUE(vectors[1].nonce_echo);
}

TEST(IncomingOptions, MoreOptionsThanTheListsHoldAreDropped) {
  std::vector<std::byte> options;
  for (int i = 0; i < 300; ++i)
    for (int b : {38, 3, 0}) options.push_back(static_cast<std::byte>(b));
  std::vector<std::byte> bytes(24 + options.size());
  HeaderFields fields;
  fields.type = PacketType::kAck;
  WriteHeader(fields, options, bytes);
  PacketView view;
  ASSERT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone);
  FeatureNegotiator features(Role::kClient);
  features.Start(Seq64(1));
  IncomingOptions out;
  EXPECT_FALSE(ScanOptions(view, {}, features, &out));
  EXPECT_EQ(out.ack_vectors.view().size(), 16u);
}

}  // namespace
}  // namespace dccp
