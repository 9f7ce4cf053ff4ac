#include "stack/trace/text_sink.h"

#include "gtest/gtest.h"
#include "tests/unit/trace/trace_fixture.h"

namespace dccp {
namespace {

class TextSinkTest : public testing::Test {
 protected:
  MemoryWriter writer_;
  TextSink sink_{writer_};
};

TEST_F(TextSinkTest, PacketsInBothDirections) {
  const auto request = RequestPacket();
  const auto reset = ResetPacket();
  sink_.OnPacket(
      {kConn, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, request, Ecn::kEct0});
  sink_.OnPacket(
      {kConn, Direction::kReceived, kTime, kV6Path, Encapsulation::kNative, reset, Ecn::kNotEct});
  EXPECT_EQ(writer_.text,
            "1.012000000 3.1 > Request seq 1108152157446 SC:fdpz len 20 ECT(0) "
            "192.0.2.1 > 192.0.2.2\n"
            "1.012000000 3.1 < Reset seq 2 ack 1 code 7 (Connection Refused) len 28 "
            "2001:db8::2 > 2001:db8::1\n");
}

TEST_F(TextSinkTest, DropOfGarbage) {
  const auto garbage = Bytes({1, 2, 3});
  sink_.OnDrop(
      {{}, DropReason::kTooShort, kTime, kV4Path, Encapsulation::kUdp, garbage, Ecn::kNotEct});
  EXPECT_EQ(writer_.text,
            "1.012000000 - dropped (too-short) unreadable len 3 192.0.2.2 > 192.0.2.1\n");
}

TEST_F(TextSinkTest, StateFeatureAndCongestionControl) {
  sink_.OnState({kConn, State::kRequest, State::kPartOpen, kTime});
  sink_.OnFeature({kConn, FeatureNumber::kAckRatio, FeatureLocation::kLocal, 2, kTime});
  CcEvent event = {};
  event.conn = kConn;
  event.ccid = CcidId::k3;
  event.allowed_rate_bytes_per_s = 1000;
  event.loss_event_rate = 0.01;
  event.rto = std::chrono::seconds(1);
  sink_.OnCc(event);
  EXPECT_EQ(writer_.text,
            "1.012000000 3.1 REQUEST -> PARTOPEN\n"
            "1.012000000 3.1 Ack Ratio (5, local) = 2\n"
            "0.000000000 3.1 ccid 3 cwnd 0 pipe 0 ssthresh 0 rate 1000 B/s p 0.01 "
            "srtt 0.000000000 rto 1.000000000 lost 0 marked 0 events 0 timeouts 0\n");
}

TEST_F(TextSinkTest, LinkLocalAddressesKeepTheirScope) {
  Path path = kV6Path;
  path.local.bytes[0] = 0xFE;
  path.local.bytes[1] = 0x80;
  path.local.scope_id = 2;
  const auto garbage = Bytes({1});
  sink_.OnPacket(
      {kConn, Direction::kSent, kTime, path, Encapsulation::kNative, garbage, Ecn::kNotEct});
  EXPECT_NE(writer_.text.find("%2 > 2001:db8::2"), std::string::npos) << writer_.text;
}

}  // namespace
}  // namespace dccp
