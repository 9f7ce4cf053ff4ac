#include "stack/conn/stateless_reset.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "stack/wire/checksum.h"
#include "stack/wire/packet_writer.h"

namespace dccp {
namespace {

constexpr std::uint64_t kSeq = 0x123456789ABC;
constexpr std::uint64_t kAck = 0xFEDCBA987654;

struct Probe {
  PacketType type;
  bool extended;
  std::uint64_t seq;
  std::uint64_t ack;
};

class StatelessResetTest : public ::testing::Test {
 protected:
  StatelessResetTest() {
    path_.local.bytes = {192, 0, 2, 1};
    path_.remote.bytes = {192, 0, 2, 2};
  }
  // Parses the answer to a packet with these fields.
  PacketView Answer(const Probe& probe, const ResetReason& reason = {},
                    Encapsulation encapsulation = Encapsulation::kNative) {
    HeaderFields fields;
    fields.source_port = 50000;
    fields.destination_port = 5001;
    fields.type = probe.type;
    fields.extended = probe.extended;
    fields.seq = SeqNo(probe.seq);
    fields.ack = SeqNo(probe.ack);
    packet_.resize(FixedHeaderBytes(probe.type, probe.extended));
    WriteHeader(fields, {}, packet_);
    PacketView packet;
    EXPECT_EQ(PacketView::Parse(packet_, &packet), ParseError::kNone);
    WriteStatelessReset(packet, reason, path_, encapsulation, answer_);
    PacketView answer;
    EXPECT_EQ(PacketView::Parse(answer_, &answer), ParseError::kNone);
    EXPECT_EQ(answer.type(), PacketType::kReset);
    return answer;
  }

  Path path_;
  std::vector<std::byte> packet_;
  std::array<std::byte, kStatelessResetBytes> answer_ = {};
};

TEST_F(StatelessResetTest, R4340_RST_09_NumbersComeFromThePacket) {
  for (const PacketType type :
       {PacketType::kResponse, PacketType::kAck, PacketType::kDataAck, PacketType::kCloseReq,
        PacketType::kClose, PacketType::kSync, PacketType::kSyncAck}) {
    const PacketView answer = Answer({type, true, kSeq, kAck});
    EXPECT_EQ(answer.seq(), SeqNo(kAck + 1)) << ToString(type);
    EXPECT_EQ(answer.ack(), SeqNo(kSeq)) << ToString(type);
    EXPECT_TRUE(answer.extended());
  }
}

TEST_F(StatelessResetTest, R4340_RST_09_ZeroWithoutAnAcknowledgementNumber) {
  for (const PacketType type : {PacketType::kRequest, PacketType::kData}) {
    const PacketView answer = Answer({type, true, kSeq, 0});
    EXPECT_EQ(answer.seq(), SeqNo(0)) << ToString(type);
    EXPECT_EQ(answer.ack(), SeqNo(kSeq)) << ToString(type);
  }
}

TEST_F(StatelessResetTest, Bug_A44_R4340_RST_09_ShortNumbersHaveZeroHighBits) {
  PacketView answer = Answer({PacketType::kAck, false, kSeq, kAck});
  EXPECT_EQ(answer.seq(), SeqNo((kAck & 0xFFFFFF) + 1));
  EXPECT_EQ(answer.ack(), SeqNo(kSeq & 0xFFFFFF));
  answer = Answer({PacketType::kData, false, kSeq, 0});
  EXPECT_EQ(answer.seq(), SeqNo(0));
  EXPECT_EQ(answer.ack(), SeqNo(kSeq & 0xFFFFFF));
}

TEST_F(StatelessResetTest, R4340_RST_09_NumbersWrapWithinTheirWidth) {
  EXPECT_EQ(Answer({PacketType::kAck, true, kSeq, SeqNo::kMask}).seq(), SeqNo(0));
  EXPECT_EQ(Answer({PacketType::kAck, false, kSeq, 0xFFFFFF}).seq(), SeqNo(0));
}

TEST_F(StatelessResetTest, SwapsPortsAndCarriesTheReason) {
  const ResetReason reason = {ResetCode::kBadServiceCode, {1, 2, 3}};
  const PacketView answer = Answer({PacketType::kRequest, true, kSeq, 0}, reason);
  EXPECT_EQ(answer.source_port(), 5001);
  EXPECT_EQ(answer.destination_port(), 50000);
  EXPECT_EQ(answer.reset_reason(), reason);
  EXPECT_TRUE(answer.options().empty());
  EXPECT_TRUE(answer.payload().empty());
}

TEST_F(StatelessResetTest, R6773_CSM_01_ChecksumOnlyInNativeMode) {
  PacketView answer = Answer({PacketType::kAck, true, kSeq, kAck});
  EXPECT_TRUE(VerifyChecksum(path_.local, path_.remote, answer));
  EXPECT_NE(answer.checksum(), 0);
  answer = Answer({PacketType::kAck, true, kSeq, kAck}, {}, Encapsulation::kUdp);
  EXPECT_EQ(answer.checksum(), 0);
}

}  // namespace
}  // namespace dccp
