// When a CCID 2 receiver acknowledges. RFC 4341 §6, RFC 4340 §11.3
#include "ccid/ccid2/ccid2_receiver.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

using Kind = AckDemand::Kind;

class Ccid2ReceiverTest : public testing::Test {
 protected:
  static CcidInit Init(std::uint32_t ack_ratio) {
    CcidInit init = DefaultInit();
    init.path.rtt = Duration::zero();
    init.ack_ratio = ack_ratio;
    return init;
  }
  void UseRatio(std::uint32_t ratio) { receiver = ccid2::Ccid2Receiver(Init(ratio)); }

  AckDemand Arrive(std::uint32_t packets = 1, bool data = true, bool in_order = true,
                   Ecn ecn = Ecn::kEct0) {
    ArrivedRun run = {};
    run.first = next;
    run.packets = packets;
    run.payload_bytes = 1000ull * packets;
    run.data = data;
    run.in_order = in_order;
    run.ecn = ecn;
    run.arrival = now;
    next = next + packets;
    const ReceiverVerdict verdict = receiver.OnPackets(run);
    EXPECT_FALSE(verdict.reset.has_value());
    return verdict.ack;
  }
  std::size_t Ack() {
    std::array<std::byte, 64> buffer;
    OptionWriter writer(buffer);
    receiver.OnBuildAck({PacketType::kAck, Seq64(1), 0, now}, writer);
    return writer.size();
  }

  TimePoint now = kStart;
  Seq64 next = Seq64(1);
  ccid2::Ccid2Receiver receiver{Init(2)};
};

TEST_F(Ccid2ReceiverTest, R4341_ACK_03_R4340_AR_01_AcknowledgesEveryRatioDataPackets) {
  for (std::uint32_t ratio = 1; ratio <= 4; ++ratio) {
    UseRatio(ratio);
    for (std::uint32_t i = 1; i <= 24; ++i) {
      const AckDemand demand = Arrive();
      EXPECT_EQ(demand.kind, i % ratio == 0 ? Kind::kNow : Kind::kBy) << ratio << ' ' << i;
      if (demand.kind == Kind::kNow) Ack();
    }
  }
}

TEST_F(Ccid2ReceiverTest, R4341_ACK_03_ARunCountsAllItsPackets) {
  UseRatio(4);
  EXPECT_EQ(Arrive(3).kind, Kind::kBy);
  EXPECT_EQ(Arrive(2).kind, Kind::kNow);
  Ack();  // acknowledges all five
  EXPECT_EQ(Arrive(3).kind, Kind::kBy);
  EXPECT_EQ(Arrive(1).kind, Kind::kNow);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_02_PiggybackedAcksCount) {
  EXPECT_EQ(Arrive().kind, Kind::kBy);
  Ack();
  EXPECT_EQ(Arrive().kind, Kind::kBy);
  EXPECT_EQ(Arrive().kind, Kind::kNow);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_01_RatioZeroFallsBackToTheDefault) {
  UseRatio(0);
  EXPECT_EQ(Arrive().kind, Kind::kBy);
  EXPECT_EQ(Arrive().kind, Kind::kNow);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_01_R4341_LNX_02_FollowsThePeersRatio) {
  receiver.OnFeature(FeatureNumber::kAckRatio, 3, /*located_here=*/false);
  receiver.OnFeature(FeatureNumber::kAckRatio, 1, /*located_here=*/true);  // our own direction
  receiver.OnFeature(FeatureNumber::kSequenceWindow, 1, false);
  EXPECT_EQ(Arrive().kind, Kind::kBy);
  EXPECT_EQ(Arrive().kind, Kind::kBy);
  EXPECT_EQ(Arrive().kind, Kind::kNow);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_04_NoAckIsDelayedByMoreThan200ms) {
  UseRatio(10);
  EXPECT_EQ(receiver.NextTimeout(), kNever);
  const AckDemand first = Arrive();
  EXPECT_EQ(first.kind, Kind::kBy);
  EXPECT_EQ(first.by, kStart + 200ms);
  now += 150ms;
  EXPECT_EQ(Arrive().by, kStart + 200ms);  // the oldest packet sets the time
  EXPECT_EQ(receiver.NextTimeout(), kStart + 200ms);
  EXPECT_EQ(receiver.OnTimeout(now).kind, Kind::kNone);
  now = kStart + 200ms;
  EXPECT_EQ(receiver.OnTimeout(now).kind, Kind::kNow);
  EXPECT_EQ(receiver.NextTimeout(), kNever);
  Ack();
  now += 1s;
  EXPECT_EQ(receiver.OnTimeout(now).kind, Kind::kNone);
  EXPECT_EQ(Arrive().by, now + 200ms);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_05_OutOfOrderDataIsAcknowledgedAtOnce) {
  UseRatio(10);
  Arrive();
  EXPECT_EQ(Arrive(1, true, /*in_order=*/false).kind, Kind::kNow);
  Ack();
  EXPECT_EQ(Arrive().kind, Kind::kBy);
}

TEST_F(Ccid2ReceiverTest, R4340_AR_05_R4341_ECN_01_MarksAtOnceButOncePerRoundTrip) {
  UseRatio(100);
  receiver.OnPathInfo({50ms, 1000}, now);
  EXPECT_EQ(Arrive(1, true, true, Ecn::kCe).kind, Kind::kNow);
  Ack();
  now += 49ms;
  EXPECT_EQ(Arrive(1, true, true, Ecn::kCe).kind, Kind::kBy);
  now += 1ms;
  EXPECT_EQ(Arrive(1, true, true, Ecn::kCe).kind, Kind::kNow);
  EXPECT_EQ(receiver.Stats().marked, 3u);
}

TEST_F(Ccid2ReceiverTest, R4340_ACK_03_NonDataIsNeverAcknowledgedForItsOwnSake) {
  UseRatio(1);
  EXPECT_EQ(Arrive(5, false).kind, Kind::kNone);
  EXPECT_EQ(Arrive(1, false, false).kind, Kind::kNone);
  EXPECT_EQ(Arrive(1, false, true, Ecn::kCe).kind, Kind::kNone);
  EXPECT_EQ(receiver.NextTimeout(), kNever);
  EXPECT_EQ(receiver.Stats().packets, 7u);
}

TEST_F(Ccid2ReceiverTest, R4341_SET_05_WritesNoOptions) {
  Arrive();
  EXPECT_EQ(Ack(), 0u);
}

TEST_F(Ccid2ReceiverTest, R4341_ACK_04_QuiescentWhenSilentAndAllAcksSeen) {
  now += 1s;
  Arrive();
  Ack();
  now += 10s;
  EXPECT_FALSE(receiver.PeerQuiescent(now));  // the peer may not know what arrived
  receiver.OnAckOfAck(false, now);
  EXPECT_FALSE(receiver.PeerQuiescent(now));
  receiver.OnAckOfAck(true, now);
  EXPECT_TRUE(receiver.PeerQuiescent(now));
  Arrive();
  receiver.OnAckOfAck(true, now);
  EXPECT_FALSE(receiver.PeerQuiescent(now + 400ms - 1ns));  // 2 x the default of 0.2 s
  EXPECT_TRUE(receiver.PeerQuiescent(now + 400ms));
}

TEST_F(Ccid2ReceiverTest, R4341_ACK_04_QuiescencePeriodFollowsTheRoundTrip) {
  const std::pair<Duration, Duration> cases[] = {{10ms, 200ms}, {100ms, 200ms}, {300ms, 600ms}};
  for (const auto& [rtt, period] : cases) {
    receiver.OnPathInfo({rtt, 1000}, now);
    Arrive();
    receiver.OnAckOfAck(true, now);
    EXPECT_FALSE(receiver.PeerQuiescent(now + period - 1ns));
    EXPECT_TRUE(receiver.PeerQuiescent(now + period));
  }
}

TEST_F(Ccid2ReceiverTest, R4341_ACK_04_QuiescentBeforeAnyData) {
  EXPECT_FALSE(receiver.PeerQuiescent(kStart));
  EXPECT_TRUE(receiver.PeerQuiescent(kStart + 400ms));
}

}  // namespace
}  // namespace dccp::test
