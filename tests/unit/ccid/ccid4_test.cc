// What makes CCID 4 of CCID 3: nominal size, headers, minimum interval, short loss intervals and
// the Dropped Packets option. RFC 5622, RFC 4828

#include "dccp/ccid4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "ccid/ccid3/options.h"
#include "ccid/ccid3/reported_intervals.h"
#include "ccid/common/tfrc_equation.h"
#include "ccid/tfrc/loss_average.h"
#include "ccid/tfrc/loss_history.h"
#include "ccid/tfrc/send_schedule.h"

namespace dccp::ccid3 {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kStart{hours(1)};

CcidInit Init(std::uint32_t mtu_bytes = 1500) {
  CcidInit init = {};
  init.now = kStart;
  init.path = {milliseconds(100), 1400, mtu_bytes};
  init.sequence_window = 100000;
  return init;
}

// Options that a test wrote, as a connection hands them over.
class Options {
 public:
  template <typename F>
  explicit Options(F write) {
    OptionWriter writer(buffer_);
    write(writer);
    for (auto bytes = writer.bytes(); !bytes.empty();) {
      const auto length = std::to_integer<std::size_t>(bytes[1]);
      raw_.push_back({OptionType{std::to_integer<std::uint8_t>(bytes[0])}, false,
                      bytes.subspan(2, length - 2)});
      bytes = bytes.subspan(length);
    }
  }
  std::span<const RawOption> view() const { return raw_; }

 private:
  std::array<std::byte, 1000> buffer_ = {};
  std::vector<RawOption> raw_;
};

// A sender that has sent packets of `payload` bytes and is told of loss.
class Sender {
 public:
  explicit Sender(std::uint32_t payload, std::uint32_t mtu_bytes = 1500)
      : payload_(payload), sender_(factory_.NewSender(Init(mtu_bytes))) {}

  void Send(int packets, Duration every) {
    std::array<std::byte, 64> buffer;
    for (int i = 0; i < packets; ++i) {
      OptionWriter writer(buffer);
      sender_->OnBuild({PacketType::kData, next, payload_, now}, writer);
      sender_->OnSent({next, 1, payload_, true, false, now});
      ++next;
      now += every;
    }
  }
  void Feed(const std::vector<WireInterval>& intervals,
            const std::vector<std::vector<std::uint32_t>>& drops, double x_recv = 1e7) {
    const Options options([&](OptionWriter& w) {
      AddReceiveRate(w, x_recv);
      AddLossIntervals(w, 0, intervals);
      for (const auto& counts : drops) AddDroppedPackets(w, counts);
    });
    const FateRun run = {
        next - 1,       1, 1, payload_, now - milliseconds(100), now - milliseconds(100),
        Fate::kReceived};
    Feedback feedback;
    feedback.now = now;
    feedback.acked = next - 1;
    feedback.runs = {&run, 1};
    feedback.rtt = milliseconds(100);
    feedback.options = options.view();
    sender_->OnFeedback(feedback);
  }
  double p() const { return sender_->Stats().loss_event_rate; }
  double x() const { return sender_->Stats().x_bytes_per_second; }
  CcidSender* operator->() { return sender_.get(); }

  TimePoint now = kStart;
  Seq64 next{0};

 private:
  Ccid4Factory factory_;
  std::uint32_t payload_;
  std::unique_ptr<CcidSender> sender_;
};

TEST(Ccid4Factory, R5622_IANA_01_NumberOptionsAndFeatures) {
  const Ccid4Factory factory;
  EXPECT_EQ(factory.traits().id, CcidId{4});
  EXPECT_TRUE(factory.traits().uses_ccval);
  EXPECT_TRUE(factory.traits().always_elapsed_time);
  EXPECT_THAT(factory.traits().options,
              ElementsAre(OptionType{128}, OptionType{192}, OptionType{193}, OptionType{194},
                          OptionType{195}));
  EXPECT_EQ(factory.traits().needs[0].feature, FeatureNumber::kSendLossEventRate);
}

// ------------------------------------------------------------------------------------ option ----

TEST(DroppedPackets, R5622_DROP_01_TheExampleOfTheRfc) {
  std::array<std::byte, 32> buffer;
  OptionWriter writer(buffer);
  const std::array<std::uint32_t, 4> counts = {1, 4, 1, 0};
  ASSERT_TRUE(AddDroppedPackets(writer, counts));
  std::vector<int> bytes;
  for (std::byte b : writer.bytes()) bytes.push_back(std::to_integer<int>(b));
  EXPECT_THAT(bytes, ElementsAre(195, 14, 0, 0, 1, 0, 0, 4, 0, 0, 1, 0, 0, 0));
  const auto view = DecodeDroppedPackets(writer.bytes().subspan(2));
  ASSERT_TRUE(view);
  ASSERT_EQ(view->size(), 4u);
  EXPECT_EQ((*view)[1], 4u);
}

TEST(DroppedPackets, R5622_DROP_01_AtMost84CountsOf24Bits) {
  std::array<std::byte, 300> buffer;
  OptionWriter writer(buffer);
  const std::vector<std::uint32_t> counts(90, 0x1234567);
  ASSERT_TRUE(AddDroppedPackets(writer, counts));
  EXPECT_EQ(writer.size(), DroppedPacketsBytes(84));
  EXPECT_EQ((*DecodeDroppedPackets(writer.bytes().subspan(2)))[83], kMax24);
}

TEST(DroppedPackets, R5622_DROP_01_OddLengthsAreIgnored) {
  const std::array<std::byte, 7> bytes = {};
  for (std::size_t n : {0u, 1u, 2u, 4u, 5u, 7u})
    EXPECT_FALSE(DecodeDroppedPackets(std::span(bytes).first(n))) << n;
  EXPECT_TRUE(DecodeDroppedPackets(std::span(bytes).first(6)));
}

// ------------------------------------------------------------------------------------ sender ----

TEST(Ccid4Sender, R4828_EQ_01_HDR_01_R5622_HDR_01_TheEquationWithHeaders) {
  for (const std::uint32_t payload : {20u, 100u, 1000u}) {
    Sender s(payload);
    s.Send(1000, milliseconds(20));
    s.Feed({{99, 1, 100, false}, {899, 1, 100, false}}, {{1, 1}});
    EXPECT_NEAR(s.p(), 0.01, 1e-9);
    const double equation = TfrcThroughput(1460, milliseconds(100), 0.01);
    EXPECT_NEAR(s.x(), equation * payload / (payload + 36.0), 1) << payload;
  }
}

TEST(Ccid4Sender, R4828_NOM_01_TheSegmentOfANarrowPath) {
  for (const auto& [mtu, segment] : {std::pair{1280u, 1240.0}, {500u, 460.0}, {9000u, 1460.0}}) {
    Sender s(100, mtu);
    s.Send(1000, milliseconds(20));
    s.Feed({{99, 1, 100, false}, {899, 1, 100, false}}, {{1, 1}});
    EXPECT_NEAR(s.x(), TfrcThroughput(segment, milliseconds(100), 0.01) * 100 / 136, 1) << mtu;
  }
  // As it changes.
  Sender s(100);
  s->OnPathInfo({milliseconds(100), 400, 536}, s.now);
  s.Send(1000, milliseconds(20));
  s.Feed({{99, 1, 100, false}, {899, 1, 100, false}}, {{1, 1}});
  EXPECT_NEAR(s.x(), TfrcThroughput(496, milliseconds(100), 0.01) * 100 / 136, 1);
}

TEST(Ccid4Sender, R5622_LI_01_R4828_LI_01_ShortIntervalsAreDividedByTheirLosses) {
  // 10 ms apart: 20 packets are two round trips. The newest interval is long and of no weight.
  Sender s(100);
  s.Send(200, milliseconds(10));
  s.Feed({{10, 10, 20, false}, {10, 10, 20, false}, {100, 60, 160, false}}, {{4, 4, 60}});
  // 20/4 and, of sixteen round trips, all of 160; the first is short itself and does not count.
  EXPECT_NEAR(1 / s.p(), (5.0 + 160) / 2, 1e-6);
}

TEST(Ccid4Sender, R4828_LI_02_R5622_LI_02_AShortOpenIntervalDoesNotRaiseTheMean) {
  Sender s(100);
  s.Send(100, milliseconds(10));
  s.Feed({{14, 1, 15, false}, {84, 1, 10, false}}, {{1, 1}});
  EXPECT_NEAR(1 / s.p(), 10, 1e-6);
  // Two round trips later it does.
  s.Send(20, milliseconds(10));
  s.Feed({{34, 1, 35, false}, {84, 1, 10, false}}, {{1, 1}});
  EXPECT_NEAR(1 / s.p(), 35, 1e-6);
}

TEST(Ccid4Sender, R5622_DROP_03_DROP_04_CountsThatCannotBeAreTheLossLength) {
  const std::vector<WireInterval> intervals = {
      {60, 1, 61, false}, {10, 5, 15, false}, {24, 0, 20, false}};
  const auto length = [&](const std::vector<std::vector<std::uint32_t>>& drops) {
    Sender s(100);
    s.Send(100, milliseconds(10));
    s.Feed(intervals, drops);
    return 1 / s.p();
  };
  // Of the open interval and the one whose losses are in question, or of that and the first.
  const auto mean = [](double second) { return std::max((61 + second) / 2, (second + 20) / 2); };
  EXPECT_NEAR(length({{1, 3, 0}}), mean(15.0 / 3), 1e-6);
  EXPECT_NEAR(length({{1, 9, 0}}), mean(15.0 / 5), 1e-6);
  EXPECT_NEAR(length({{1}}), mean(15.0 / 5), 1e-6);
  EXPECT_NEAR(length({}), mean(15.0 / 5), 1e-6);
  // None lost at all cannot be, but divides by nothing.
  EXPECT_NEAR(length({{1, 0, 0}}), mean(15), 1e-6);
  // A second option goes on where the first ends; what no interval belongs to is ignored.
  EXPECT_NEAR(length({{1}, {3, 0, 7, 7}}), mean(15.0 / 3), 1e-6);
}

TEST(Ccid4Sender, R5622_MIN_01_R4828_MIN_01_TenMillisecondsBetweenPackets) {
  Sender s(1);
  s.Send(100, milliseconds(30));
  s.Feed({{49, 1, 50, false}, {49, 1, 50, false}}, {{1, 1}});
  ASSERT_GT(s.x(), 500);
  for (int i = 0; i < 50; ++i) {
    const SendPermit permit = s->MaySend(1, s.now);
    ASSERT_EQ(permit.kind, SendPermit::Kind::kNow);
    EXPECT_EQ(permit.packets, 1u);
    s.Send(1, Duration::zero());
    const SendPermit next = s->MaySend(1, s.now);
    ASSERT_EQ(next.kind, SendPermit::Kind::kAt);
    EXPECT_EQ(next.at, s.now + milliseconds(10));
    // The interval begins when a packet left, however late that was.
    s.now = next.at + milliseconds(i % 3);
  }
}

TEST(Ccid4Sender, R5622_SLOW_01_SlowStartIsThatOfCcid3) {
  Sender s(100);
  s->MaySend(100, s.now);
  // Four packets in the round trip of the handshake.
  EXPECT_NEAR(s.x(), 4 * 100 / 0.1, 1e-6);
}

TEST(Ccid4Schedule, R4828_MIN_01_TheRateMayWantMoreThanTheMinimum) {
  tfrc::SendSchedule schedule({milliseconds(1), hours(1), milliseconds(10)});
  schedule.OnSent(1, kStart, 0.05, milliseconds(100));
  const SendPermit permit = schedule.Ask(kStart + milliseconds(3), 0.05, milliseconds(100));
  ASSERT_EQ(permit.kind, SendPermit::Kind::kAt);
  EXPECT_GT(permit.at, kStart + milliseconds(49));
}

TEST(Ccid4Schedule, R5348_SCH_02_UnusedTimeIsMadeUpForWithinARoundTrip) {
  tfrc::SendSchedule schedule({milliseconds(1), hours(1), milliseconds(10)});
  TimePoint now = kStart;
  // Twice as slow as allowed for long, then allowed half of what is sent.
  for (int i = 0; i < 100; ++i, now += milliseconds(20))
    schedule.OnSent(1, now, 0.01, milliseconds(100));
  int in_time = 0;
  for (; schedule.Ask(now, 0.04, milliseconds(100)).kind == SendPermit::Kind::kNow; ++in_time) {
    schedule.OnSent(1, now, 0.04, milliseconds(100));
    now += milliseconds(20);
  }
  EXPECT_GE(in_time, 3);
  EXPECT_LE(in_time, 5);
}

// ---------------------------------------------------------------------------------- receiver ----

class Receiver {
 public:
  Receiver() : receiver_(factory_.NewReceiver(Init())) {
    receiver_->OnFeature(FeatureNumber::kSendLossEventRate, 1, true);
  }
  void Get(std::int64_t seq, Ecn ecn = Ecn::kEct0, std::uint64_t ndp = 0) {
    ArrivedRun run = {};
    run.first = Seq64(seq);
    run.packets = 1;
    run.payload_bytes = 100;
    run.data = true;
    run.ccval = static_cast<std::uint8_t>((seq * 2 / 5) & 15);  // 10 ms apart, 100 ms round trip
    run.ecn = ecn;
    run.ndp = ndp;
    run.arrival = kStart + seq * milliseconds(10);
    receiver_->OnPackets(run);
    now = run.arrival;
  }
  void Ack(std::size_t room = 512) {
    lost.clear();
    drops.clear();
    std::array<std::byte, 512> buffer;
    OptionWriter writer(std::span<std::byte>(buffer).first(room));
    receiver_->OnBuildAck({PacketType::kAck, Seq64(1), 0, now}, writer);
    bytes = writer.size();
    for (auto rest = writer.bytes(); !rest.empty();) {
      const auto length = std::to_integer<std::size_t>(rest[1]);
      const auto data = rest.subspan(2, length - 2);
      if (rest[0] == std::byte{193}) {
        const auto view = DecodeLossIntervals(data);
        for (std::size_t i = 0; i < view->size(); ++i) lost.push_back((*view)[i].loss);
      } else if (rest[0] == std::byte{195}) {
        const auto view = DecodeDroppedPackets(data);
        for (std::size_t i = 0; i < view->size(); ++i) drops.push_back((*view)[i]);
      }
      rest = rest.subspan(length);
    }
  }
  CcidReceiver* operator->() { return receiver_.get(); }

  TimePoint now = kStart;
  std::vector<std::uint32_t> lost;   // Loss Lengths
  std::vector<std::uint32_t> drops;  // Drop Counts
  std::size_t bytes = 0;

 private:
  Ccid4Factory factory_;
  std::unique_ptr<CcidReceiver> receiver_;
};

TEST(Ccid4Receiver, R5622_DROP_02_EachFeedbackCountsTheLossesOfItsIntervals) {
  Receiver r;
  r.Get(0);
  r.Ack();
  EXPECT_THAT(r.drops, ElementsAre(0));
  for (std::int64_t seq = 1; seq < 60; ++seq) {
    if (seq == 20 || seq == 22 || seq == 25 || seq == 50) continue;
    r.Get(seq);
  }
  r.Ack();
  EXPECT_THAT(r.lost, ElementsAre(1, 6, 0));
  EXPECT_THAT(r.drops, ElementsAre(1, 3, 0));
  // Where there is no room for both there is neither.
  r.Get(60);
  r->OnTimeout(r->NextTimeout());
  r.Ack(48);
  EXPECT_THAT(r.drops, IsEmpty());
  EXPECT_THAT(r.lost, IsEmpty());
  EXPECT_EQ(r.bytes, 0u);
  EXPECT_GE(r->AckOptionBytes(), LossIntervalsBytes(9) + DroppedPacketsBytes(9));
}

TEST(Ccid4Receiver, R5622_DROP_02_MarksCountAndAcknowledgementsDoNot) {
  Receiver r;
  for (std::int64_t seq = 0; seq < 40; ++seq) {
    if (seq == 20) continue;
    r.Get(seq, seq == 22 ? Ecn::kCe : Ecn::kEct0, seq == 33 ? 2u : 0u);
    // Two Acks of the sender's are lost as well: the packet after them says so.
    if (seq == 30) seq += 2;
  }
  r.Ack();
  EXPECT_THAT(r.lost, ElementsAre(3, 0));
  EXPECT_THAT(r.drops, ElementsAre(2, 0));
}

TEST(Ccid4Receiver, R5622_LER_01_R4828_LI_01_ShortIntervalsByTheWindowCounter) {
  Receiver r;
  const auto lossy = [](std::int64_t seq) { return seq >= 20 && seq % 5 < 2; };
  for (std::int64_t seq = 0; seq < 400; ++seq) {
    if (!lossy(seq)) r.Get(seq);
  }
  // Two packets of five are lost: p is 0.4, though there is an event each round trip only.
  EXPECT_NEAR(r->Stats().loss_event_rate, 0.4, 0.05);
  // Much later the interval is not short, and counts as one event.
  for (std::int64_t seq = 400; seq < 600; ++seq) r.Get(seq);
  r.Ack();
  EXPECT_LT(r->Stats().loss_event_rate, 0.05);
}

TEST(Ccid4Receiver, R4828_INI_01_TheFirstIntervalIsThatOf1460Bytes) {
  Receiver r;
  for (std::int64_t seq = 0; seq < 100; ++seq) {
    r.Get(seq);
    if (seq % 10 == 0) r.Ack();
  }
  for (std::int64_t seq = 101; seq < 105; ++seq) r.Get(seq);
  // 10 kB/s in 100 ms are less than one segment of 1460 bytes, but more than half of one.
  EXPECT_NEAR(r->Stats().loss_event_rate, TfrcLossEventRate(10'000 * 0.1 / 1460), 0.02);
}

}  // namespace
}  // namespace dccp::ccid3
