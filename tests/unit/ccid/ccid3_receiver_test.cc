#include "ccid/ccid3/ccid3_receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "ccid/ccid3/options.h"

namespace dccp::ccid3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = AckDemand::Kind;

constexpr TimePoint kStart{std::chrono::hours(1)};

// What an acknowledgement said.
struct Feedback {
  std::optional<double> x_recv;
  std::optional<double> p;
  std::uint32_t skip = 0;
  std::vector<WireInterval> intervals;
};

class Receiver {
 public:
  explicit Receiver(Duration rtt = milliseconds(100), const Ccid3Options& options = {})
      : receiver_(Init(rtt), options) {}

  ReceiverVerdict Get(std::int64_t seq, int ccval = -1) {
    return receiver_.OnPackets(Run(seq, ccval));
  }
  ArrivedRun Run(std::int64_t seq, int ccval = -1) {
    ArrivedRun run = {};
    run.first = Seq64(seq);
    run.packets = 1;
    run.payload_bytes = 1000;
    run.data = true;
    run.ccval = static_cast<std::uint8_t>((ccval < 0 ? counter : ccval) & 15);
    run.ecn = Ecn::kEct0;
    run.arrival = now;
    return run;
  }
  ReceiverVerdict Put(const ArrivedRun& run) { return receiver_.OnPackets(run); }

  Feedback Ack(PacketType type = PacketType::kAck, std::size_t room = 512) {
    std::array<std::byte, 512> buffer;
    OptionWriter writer(std::span<std::byte>(buffer).first(room));
    receiver_.OnBuildAck({type, Seq64(1), 0, now}, writer);
    return Parse(writer.bytes());
  }
  static Feedback Parse(std::span<const std::byte> bytes) {
    Feedback feedback;
    while (!bytes.empty()) {
      const auto length = std::to_integer<std::size_t>(bytes[1]);
      const auto data = bytes.subspan(2, length - 2);
      const OptionType type{std::to_integer<std::uint8_t>(bytes[0])};
      if (type == kReceiveRate) feedback.x_recv = DecodeReceiveRate(data);
      if (type == kLossEventRate) feedback.p = DecodeLossEventRate(data);
      if (type == kLossIntervals) {
        const auto view = DecodeLossIntervals(data);
        feedback.skip = view->skip;
        for (std::size_t i = 0; i < view->size(); ++i) feedback.intervals.push_back((*view)[i]);
      }
      bytes = bytes.subspan(length);
    }
    return feedback;
  }
  Ccid3Receiver* operator->() { return &receiver_; }

  TimePoint now = kStart;
  int counter = 0;

 private:
  static CcidInit Init(Duration rtt) {
    CcidInit init = {};
    init.now = kStart;
    init.path.rtt = rtt;
    init.last_received = Seq64(99);
    return init;
  }
  Ccid3Receiver receiver_;
};

// Packets 100, 101, ... each 10 ms, a counter each 25 ms, acknowledged where demanded.
std::vector<TimePoint> FeedbackTimes(Receiver& r, int packets, int lost = -1) {
  std::vector<TimePoint> times;
  for (int i = 0; i < packets; ++i) {
    r.now = kStart + i * milliseconds(10);
    r.counter = i * 10 / 25;
    if (i == lost) continue;
    if (r.Get(100 + i).ack.kind != Kind::kNow) continue;
    times.push_back(r.now);
    r.Ack();
  }
  return times;
}

TEST(Ccid3Receiver, R5348_RCV_05_FirstDataPacketIsReportedWithoutARate) {
  Receiver r;
  EXPECT_EQ(r.Get(100).ack.kind, Kind::kNow);
  const Feedback feedback = r.Ack();
  EXPECT_EQ(feedback.x_recv, 0);
  ASSERT_EQ(feedback.intervals.size(), 1u);
  EXPECT_EQ(feedback.intervals[0], (WireInterval{1, 0, 0, false}));
  EXPECT_FALSE(feedback.p);
}

TEST(Ccid3Receiver, R4342_FB_01_R5348_RCV_01_FeedbackOnceARoundTripByTheCounter) {
  Receiver r;
  const auto times = FeedbackTimes(r, 500);
  EXPECT_NEAR(static_cast<double>(times.size()), 50, 2);
  for (std::size_t i = 1; i < times.size(); ++i)
    EXPECT_NEAR(tfrc::Seconds(times[i] - times[i - 1]), 0.1, 0.0101);
}

TEST(Ccid3Receiver, R4342_FB_01_FeedbackForEachPacketAtALowRate) {
  Receiver r;
  for (int i = 0; i < 20; ++i) {
    r.now += seconds(1);
    r.counter += 5;
    EXPECT_EQ(r.Get(100 + i).ack.kind, Kind::kNow) << i;
    r.Ack();
  }
}

TEST(Ccid3Receiver, R4342_FB_01_AnOlderCounterOfAReorderedPacketIsNotARoundTrip) {
  Receiver r;
  r.Get(100, 7);
  r.Ack();
  EXPECT_NE(r.Get(102, 8).ack.kind, Kind::kNow);
  EXPECT_NE(r.Get(101, 7).ack.kind, Kind::kNow);  // 7 - 8 is 15 in circular arithmetic
}

TEST(Ccid3Receiver, R5348_RCV_01_RCV_02_FeedbackAtOnceForALossEvent) {
  Receiver r;
  FeedbackTimes(r, 12);
  ASSERT_NE(r.Get(113).ack.kind, Kind::kNow);
  ASSERT_NE(r.Get(114).ack.kind, Kind::kNow);
  EXPECT_EQ(r.Get(115).ack.kind, Kind::kNow);
  EXPECT_GT(r->Stats().loss_event_rate, 0);
  const Feedback feedback = r.Ack();
  ASSERT_EQ(feedback.intervals.size(), 2u);
  EXPECT_EQ(feedback.intervals[0].loss, 1u);
  // Another loss of the same event raises nothing.
  EXPECT_NE(r.Get(117).ack.kind, Kind::kNow);
  EXPECT_NE(r.Get(118).ack.kind, Kind::kNow);
  EXPECT_NE(r.Get(119).ack.kind, Kind::kNow);
}

TEST(Ccid3Receiver, R5348_RCV_01_FeedbackAtOnceWhenALatePacketRemovesAnEvent) {
  Receiver r;
  FeedbackTimes(r, 12);
  for (int seq : {113, 114, 115}) r.Get(seq);
  r.Ack();
  EXPECT_EQ(r.Get(112).ack.kind, Kind::kNow);
  EXPECT_EQ(r->Stats().loss_event_rate, 0);
}

TEST(Ccid3Receiver, R5348_LOSS_02_FeedbackAtOnceForAMark) {
  Receiver r;
  FeedbackTimes(r, 12);
  ArrivedRun marked = r.Run(112);
  marked.ecn = Ecn::kCe;
  EXPECT_EQ(r.Put(marked).ack.kind, Kind::kNow);
  EXPECT_EQ(r->Stats().marked, 1u);
}

TEST(Ccid3Receiver, R4342_FB_02_ATimerReportsWhatTheCountersMiss) {
  Receiver r;
  r.Get(100);
  r.Ack();
  EXPECT_EQ(r->NextTimeout(), kNever);
  r.now += milliseconds(1);
  r.Get(101);
  ASSERT_EQ(r->NextTimeout(), kStart + milliseconds(125));
  r.now = kStart + milliseconds(125);
  EXPECT_EQ(r->OnTimeout(r.now).kind, Kind::kNow);
  EXPECT_TRUE(r.Ack().x_recv);
  // Without new data there is nothing to report. RFC 5348 §6.2
  EXPECT_EQ(r->NextTimeout(), kNever);
  EXPECT_EQ(r->OnTimeout(r.now + seconds(9)).kind, Kind::kNone);
}

TEST(Ccid3Receiver, R4342_OPT_03_R5348_RCV_08_TheMeasuredRate) {
  Receiver r;
  Feedback last;
  for (int i = 0; i < 200; ++i) {
    r.now = kStart + i * milliseconds(10);
    r.counter = i * 10 / 25;
    if (r.Get(100 + i).ack.kind == Kind::kNow) last = r.Ack();
  }
  EXPECT_NEAR(*last.x_recv, 100000, 1);
}

TEST(Ccid3Receiver, R5348_RCV_06_TheFirstIntervalFollowsFromTheRate) {
  Receiver r;
  FeedbackTimes(r, 300, 290);
  // 1000 bytes each 10 ms over 100 ms: ten packets a round trip, 82 a loss interval.
  const Feedback feedback = r.Ack();
  ASSERT_EQ(r->Stats().loss_event_rate > 0, true);
  EXPECT_NEAR(1 / r->Stats().loss_event_rate, 82.15, 1.5);
}

TEST(Ccid3Receiver, R5348_RCV_07_TheFirstPacketsWereLost) {
  Receiver r;
  r.Get(101);
  r.Get(102);
  EXPECT_EQ(r.Get(103).ack.kind, Kind::kNow);
  EXPECT_NEAR(1 / r->Stats().loss_event_rate, 4.844, 0.001);
}

TEST(Ccid3Receiver, R4342_FT_01_LossEventRateWhereAskedFor) {
  Receiver r;
  r->OnFeature(FeatureNumber::kSendLossEventRate, 1, true);
  r.Get(100);
  EXPECT_EQ(r.Ack().p, 0);
  for (int seq : {102, 103, 104}) r.Get(seq);
  EXPECT_NEAR(*r.Ack().p, r->Stats().loss_event_rate, 0.05);
  r->OnFeature(FeatureNumber::kSendLossEventRate, 0, true);
  r.Get(105);
  EXPECT_FALSE(r.Ack().p);
}

TEST(Ccid3Receiver, R4342_OPT_05_NineIntervalsAtLeast) {
  Receiver r;
  int seq = 100;
  for (int event = 0; event < 30; ++event) {
    for (int i = 0; i < 20; ++i) {
      r.now += milliseconds(10);
      r.counter = (seq - 100) * 10 / 25;
      if (i != 7) r.Get(seq);
      ++seq;
    }
  }
  const Feedback feedback = r.Ack();
  ASSERT_EQ(feedback.intervals.size(), 9u);
  for (std::size_t i = 1; i < 9; ++i) {
    EXPECT_EQ(feedback.intervals[i].lossless + feedback.intervals[i].loss, 20u);
    EXPECT_EQ(feedback.intervals[i].data, 20u);
  }
  EXPECT_NEAR(r->Stats().loss_event_rate, 0.05, 1e-9);
}

TEST(Ccid3Receiver, R4342_LI_02_SkipLengthLeavesOutWhatIsOpen) {
  Receiver r;
  for (int seq : {100, 101, 103}) r.Get(seq);
  EXPECT_EQ(r.Ack().skip, 2u);
  r.Get(102);
  r.Get(104);
  EXPECT_EQ(r.Ack().skip, 0u);
}

TEST(Ccid3Receiver, R4342_OPT_04_SkipLengthIsNeverAboveThree) {
  Receiver r;
  for (int seq : {100, 101, 140}) r.Get(seq);
  const Feedback feedback = r.Ack();
  EXPECT_EQ(feedback.skip, 3u);
  EXPECT_EQ(feedback.intervals.at(0).lossless, 38u);
  EXPECT_EQ(feedback.intervals.at(0).data, 0u);
}

TEST(Ccid3Receiver, R4342_FB_05_WhatDoesNotFitIsSentLater) {
  Receiver r;
  r.Get(100);
  EXPECT_GT(r->AckOptionBytes(), 12u);
  EXPECT_FALSE(r.Ack(PacketType::kDataAck, 12).x_recv);
  EXPECT_LE(r->NextTimeout(), r.now + milliseconds(100));
  r.now = r->NextTimeout();
  EXPECT_EQ(r->OnTimeout(r.now).kind, Kind::kNow);
  EXPECT_TRUE(r.Ack().x_recv);
  EXPECT_EQ(r->AckOptionBytes(), 0u);
}

TEST(Ccid3Receiver, R4342_FB_03_AnAckOfOtherReasonsIsNoFeedback) {
  Receiver r;
  r.Get(100);
  r.Ack();
  r.Get(101);
  EXPECT_FALSE(r.Ack(PacketType::kDataAck).x_recv);
  EXPECT_FALSE(r.Ack(PacketType::kClose).x_recv);
  // But one that the sender may take for a feedback is made one.
  EXPECT_TRUE(r.Ack(PacketType::kAck).x_recv);
  EXPECT_FALSE(r.Ack(PacketType::kAck).x_recv);
}

TEST(Ccid3Receiver, R4342_Q_01_QuiescentAfterTwoRoundTripsOrAFifthOfASecond) {
  Receiver r(milliseconds(300));
  r.Get(100);
  EXPECT_FALSE(r->PeerQuiescent(r.now + milliseconds(599)));
  EXPECT_TRUE(r->PeerQuiescent(r.now + milliseconds(600)));
  Receiver near(milliseconds(1));
  near.Get(100);
  EXPECT_FALSE(near->PeerQuiescent(near.now + milliseconds(199)));
  EXPECT_TRUE(near->PeerQuiescent(near.now + milliseconds(200)));
}

TEST(Ccid3Receiver, R6323_USE_02_FeedbackByTheReportedRoundTrip) {
  Receiver r;
  r->OnFeature(FeatureNumber::kSendRttEstimate, 1, false);
  const std::array<std::byte, 2> report = {std::byte{0x9C}, std::byte{0x40}};  // 40 ms
  const RawOption option = {kSenderRttEstimate, false, report};
  int feedbacks = 0;
  for (int i = 0; i < 400; ++i) {
    r.now = kStart + i * milliseconds(10);
    ArrivedRun run = r.Run(100 + i, 0);  // the counter stands still
    run.options = {&option, 1};
    if (r.Put(run).ack.kind != Kind::kNow) continue;
    ++feedbacks;
    r.Ack();
  }
  EXPECT_NEAR(feedbacks, 100, 2);
  EXPECT_EQ(r->Stats().rtt, milliseconds(40));
}

TEST(Ccid3Receiver, R6323_USE_02_AnInvalidOptionEndsTheConnection) {
  for (std::size_t bytes : {0u, 4u}) {
    Receiver r;
    const std::array<std::byte, 4> data = {std::byte{9}};
    const RawOption option = {kSenderRttEstimate, false, std::span(data).first(bytes)};
    ArrivedRun run = r.Run(100);
    run.options = {&option, 1};
    EXPECT_FALSE(r.Put(run).reset);  // without the feature it is ignored
    r->OnFeature(FeatureNumber::kSendRttEstimate, 1, false);
    run.first = Seq64(101);
    const auto reset = r.Put(run).reset;
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->code, ResetCode::kOptionError);
    EXPECT_EQ(reset->data[0], 128);
    EXPECT_EQ(reset->data[1], bytes + 2);
    EXPECT_EQ(reset->data[2], bytes == 0 ? 0 : 9);
  }
}

TEST(Ccid3Receiver, Bug_E3_WorksWithoutAnyRoundTrip) {
  Receiver r(Duration::zero());
  FeedbackTimes(r, 50, 20);
  EXPECT_GT(r->Stats().loss_event_rate, 0);
  EXPECT_GT(r->Stats().rtt, Duration::zero());
}

TEST(Ccid3Receiver, Bug_E27_AcknowledgementsBeforeAnyDataAreSilent) {
  Receiver r;
  EXPECT_FALSE(r.Ack().x_recv);
  ArrivedRun ack = r.Run(100);
  ack.data = false;
  EXPECT_EQ(r.Put(ack).ack.kind, Kind::kNone);
  EXPECT_FALSE(r.Ack().x_recv);
  EXPECT_EQ(r->NextTimeout(), kNever);
}

}  // namespace
}  // namespace dccp::ccid3
