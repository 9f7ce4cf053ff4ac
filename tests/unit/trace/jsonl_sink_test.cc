#include "stack/trace/jsonl_sink.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/unit/trace/trace_fixture.h"

namespace dccp {
namespace {

class JsonlSinkTest : public testing::Test {
 protected:
  MemoryWriter writer_;
  JsonlSink sink_{writer_};
};

TEST_F(JsonlSinkTest, Packet) {
  const auto request = RequestPacket();
  sink_.OnPacket(
      {kConn, Direction::kSent, kTime, kV4Path, Encapsulation::kUdp, request, Ecn::kEct0});
  EXPECT_EQ(writer_.text,
            R"({"event":"packet","time":1.012000000,"conn":"3.1","direction":"sent",)"
            R"("encapsulation":"udp","local":"192.0.2.1","remote":"192.0.2.2",)"
            R"-("local_udp_port":1111,"remote_udp_port":6511,"ecn":"ECT(0)","length":20,)-"
            R"("source_port":5001,"destination_port":5002,"type":"Request","x":1,)"
            R"("seq":1108152157446,"ccval":0,"cscov":0,"option_bytes":0,"payload_bytes":0})"
            "\n");
}

TEST_F(JsonlSinkTest, DropOfAReset) {
  const auto reset = ResetPacket();
  sink_.OnDrop(
      {{}, DropReason::kNoConnection, kTime, kV6Path, Encapsulation::kNative, reset, Ecn::kNotEct});
  EXPECT_EQ(writer_.text,
            R"({"event":"drop","time":1.012000000,"conn":null,"reason":"no-connection",)"
            R"("encapsulation":"native","local":"2001:db8::1","remote":"2001:db8::2",)"
            R"("ecn":"Not-ECT","length":28,"source_port":5002,"destination_port":5001,)"
            R"("type":"Reset","x":1,"seq":2,"ack":1,"ccval":0,"cscov":0,"reset_code":7,)"
            R"("option_bytes":0,"payload_bytes":0})"
            "\n");
}

TEST_F(JsonlSinkTest, DropOfGarbageHasTheLengthOnly) {
  const auto garbage = Bytes({1, 2, 3});
  sink_.OnDrop(
      {{}, DropReason::kTooShort, kTime, kV6Path, Encapsulation::kNative, garbage, Ecn::kCe});
  EXPECT_EQ(writer_.text,
            R"({"event":"drop","time":1.012000000,"conn":null,"reason":"too-short",)"
            R"("encapsulation":"native","local":"2001:db8::1","remote":"2001:db8::2",)"
            R"("ecn":"CE","length":3})"
            "\n");
}

TEST_F(JsonlSinkTest, StateAndFeature) {
  sink_.OnState({kConn, State::kPartOpen, State::kOpen, kTime});
  sink_.OnFeature({kConn, FeatureNumber::kSequenceWindow, FeatureLocation::kRemote,
                   (std::uint64_t{1} << 46) - 1, kTime});
  EXPECT_EQ(writer_.text,
            R"({"event":"state","time":1.012000000,"conn":"3.1","from":"PARTOPEN","to":"OPEN"})"
            "\n"
            R"({"event":"feature","time":1.012000000,"conn":"3.1","number":3,)"
            R"("feature":"Sequence Window","at":"remote","value":70368744177663})"
            "\n");
}

TEST_F(JsonlSinkTest, CongestionControl) {
  CcEvent event = {};
  event.conn = kConn;
  event.time = TimePoint(Duration(-5));
  event.ccid = CcidId::k2;
  event.cwnd_packets = 4;
  event.loss_event_rate = 0.125;
  event.srtt = std::chrono::microseconds(1500);
  sink_.OnCc(event);
  EXPECT_EQ(writer_.text,
            R"({"event":"cc","time":-0.000000005,"conn":"3.1","ccid":2,"cwnd_packets":4,)"
            R"("pipe_packets":0,"ssthresh_packets":0,"allowed_rate_bytes_per_s":0,)"
            R"("loss_event_rate":0.125,"srtt_s":0.001500000,"rto_s":0.000000000,)"
            R"("lost_packets":0,"marked_packets":0,"loss_events":0,"timeouts":0})"
            "\n");
  event.loss_event_rate = std::numeric_limits<double>::quiet_NaN();
  writer_.text.clear();
  sink_.OnCc(event);
  EXPECT_NE(writer_.text.find(R"("loss_event_rate":null)"), std::string::npos);
}

}  // namespace
}  // namespace dccp
