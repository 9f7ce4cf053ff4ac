// Responses to Data Dropped and Slow Receiver. RFC 4340 §11.6, §11.7; RFC 4341 §5.2
#include <gtest/gtest.h>

#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

using Seqs = std::vector<std::int64_t>;

// A sender in slow start with a window of 12, all of it in flight.
class Ccid2DataDropped : public testing::Test {
 protected:
  Ccid2DataDropped() {
    while (m.cwnd() < 12) m.Ack(m.Fill());
    s = m.Fill();
  }

  void Drop(std::initializer_list<std::pair<std::int64_t, DropCode>> drops, const Seqs& received) {
    std::vector<DataDroppedRun> runs;
    for (const auto& [seq, code] : drops) runs.push_back({Seq64(seq), 1, code});
    Feedback base;
    base.data_dropped = runs;
    m.Ack(received, {}, base);
  }
  bool InSlowStart() const { return m.cwnd() < m.ssthresh(); }

  Ccid2Model m;
  Seqs s;
};

TEST_F(Ccid2DataDropped, R4341_DD_01_R4340_DD_14_EachBufferDropCostsOnePacket) {
  Drop({{s[0], DropCode::kReceiveBuffer}, {s[1], DropCode::kReceiveBuffer}}, {s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 10u);
  Drop({{s[2], DropCode::kReceiveBuffer}}, {s[2], s[3]});
  EXPECT_EQ(m.cwnd(), 9u);
  EXPECT_EQ(m.sender.Stats().loss_events, 0u);
}

TEST_F(Ccid2DataDropped, R4341_DD_01_BufferDropsLeaveOnePacket) {
  const std::vector<DataDroppedRun> runs = {{Seq64(s[0]), 1000, DropCode::kReceiveBuffer}};
  Feedback base;
  base.data_dropped = runs;
  m.Ack({s[0]}, {}, base);
  EXPECT_EQ(m.cwnd(), 1u);
  EXPECT_EQ(m.ssthresh(), 2u);
}

TEST_F(Ccid2DataDropped, R4341_DD_02_DataDroppedLeavesSlowStart) {
  ASSERT_TRUE(InSlowStart());
  Drop({{s[0], DropCode::kReceiveBuffer}}, {s[0], s[1]});
  EXPECT_FALSE(InSlowStart());
}

TEST_F(Ccid2DataDropped, R4341_DD_02_R4340_SR_01_SlowReceiverFreezesTheWindowForARoundTrip) {
  Feedback base;
  base.slow_receiver = true;
  m.Ack({s[0], s[1]}, {}, base);
  EXPECT_EQ(m.cwnd(), 12u);  // no reduction
  EXPECT_FALSE(InSlowStart());
  const Duration rtt = m.sender.Stats().srtt;
  m.Ack({s.begin() + 2, s.end()});
  m.now += rtt - 1ns;
  m.Ack(m.Fill());
  m.Ack(m.Fill());
  EXPECT_EQ(m.cwnd(), 12u);
  m.now += 1ns;
  Seqs t = m.Fill();
  m.Ack(t);
  EXPECT_EQ(m.cwnd(), 13u);  // and then in congestion avoidance
}

TEST_F(Ccid2DataDropped, R4341_DD_03_R4340_DD_10_OtherCodesActAsMarks) {
  for (int code : {3, 4, 5, 6, 7}) {
    Ccid2Model fresh;
    while (fresh.cwnd() < 12) fresh.Ack(fresh.Fill());
    const Seqs sent = fresh.Fill();
    const std::vector<DataDroppedRun> runs = {{Seq64(sent[0]), 2, DropCode(code)}};
    Feedback base;
    base.data_dropped = runs;
    fresh.Ack({sent[0], sent[1]}, {}, base);
    EXPECT_EQ(fresh.cwnd(), 6u) << code;
    fresh.Ack({}, {sent[2]});  // the same window
    EXPECT_EQ(fresh.cwnd(), 6u) << code;
  }
}

TEST_F(Ccid2DataDropped, R4340_DD_11_TheSmallerResponseHolds) {
  // One lost: 6; two buffer drops: 10.
  Drop({{s[1], DropCode::kReceiveBuffer}, {s[2], DropCode::kReceiveBuffer}}, {s[1], s[2], s[3]});
  EXPECT_EQ(m.cwnd(), 6u);
}

TEST_F(Ccid2DataDropped, R4340_DD_11_ManyBufferDropsWeighMoreThanALoss) {
  const std::vector<DataDroppedRun> runs = {{Seq64(s[1]), 9, DropCode::kReceiveBuffer}};
  Feedback base;
  base.data_dropped = runs;
  m.Ack({s.begin() + 1, s.begin() + 10}, {}, base);
  EXPECT_EQ(m.cwnd(), 3u);
}

TEST_F(Ccid2DataDropped, R4340_DD_12_ProtocolConstraintsAreNoCongestion) {
  Drop({{s[0], DropCode::kProtocolConstraints}}, {s[0], s[1]});
  EXPECT_EQ(m.cwnd(), 13u);
  EXPECT_TRUE(InSlowStart());
}

TEST_F(Ccid2DataDropped, R4340_DD_13_NoDataForAnApplicationThatListensNoMore) {
  Drop({{s[0], DropCode::kAppNotListening}}, s);
  EXPECT_EQ(m.pipe(), 0u);
  EXPECT_EQ(m.sender.MaySend(1000, m.now).kind, SendPermit::Kind::kBlocked);
}

}  // namespace
}  // namespace dccp::test
