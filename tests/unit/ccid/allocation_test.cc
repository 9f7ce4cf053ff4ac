// Neither side of a CCID allocates once it exists.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "ccid/ccid2/ccid2_receiver.h"
#include "dccp/ccid3.h"
#include "tests/unit/ccid/ccid2_model.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: a compiler that sees free() where it knows of operator new warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace dccp::test {
namespace {

TEST(Ccid2Allocation, NoneInHundredThousandPackets) {
  ccid2::Ccid2Sender sender(DefaultInit(), {});
  ccid2::Ccid2Receiver receiver(DefaultInit());
  std::array<std::byte, 64> buffer;
  OptionWriter writer(buffer);
  TimePoint now = kStart;
  Seq64 seq(kFirstSeq);
  const std::size_t before = allocations;
  for (int i = 0; i < 50000; ++i) {
    now += 1ms;
    sender.MaySend(1000, now);
    sender.OnBuild({PacketType::kData, seq, 1000, now}, writer);
    sender.OnSent({seq, 2, 2000, true, false, now});
    receiver.OnPackets({seq, 2, 2000, true, true, 0, Ecn::kEct0, std::nullopt, now, {}});
    receiver.OnBuildAck({PacketType::kAck, seq, 0, now}, writer);
    const bool lost = i % 1000 == 999;
    const FateRun run = {seq, 2, 2, 2000, now, now, lost ? Fate::kLost : Fate::kReceived};
    Feedback feedback;
    feedback.now = now;
    feedback.acked = seq + 1;
    feedback.runs = {&run, 1};
    feedback.rtt = 1ms;
    const CcidRequests requests = sender.OnFeedback(feedback);
    for (std::size_t k = 0; k < requests.feature_count; ++k) {
      sender.OnFeature(requests.features[k].feature, requests.features[k].value, true);
    }
    sender.OnTimeout(sender.NextTimeout() == kNever ? now : sender.NextTimeout());
    seq = seq + 2;
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GE(sender.Stats().loss_events, 50u);
}

TEST(Ccid3Allocation, NoneInHundredThousandPackets) {
  Ccid3Factory factory;
  const auto sender = factory.NewSender(DefaultInit());
  const auto receiver = factory.NewReceiver(DefaultInit());
  receiver->OnFeature(FeatureNumber::kSendLossEventRate, 1, true);
  sender->OnFeature(FeatureNumber::kSendRttEstimate, 1, true);
  std::array<std::byte, 256> buffer;
  TimePoint now = kStart;
  Seq64 seq(kFirstSeq);
  const std::size_t before = allocations;
  for (int i = 0; i < 100000; ++i) {
    now += 1ms;
    OptionWriter data_options(std::span<std::byte>(buffer).first(32));
    sender->MaySend(1000, now);
    const BuildDecision built = sender->OnBuild({PacketType::kData, seq, 1000, now}, data_options);
    sender->OnSent({seq, 1, 1000, true, false, now});
    if (i % 100 != 99) {
      receiver->OnPackets(
          {seq, 1, 1000, true, true, built.ccval, Ecn::kEct0, std::nullopt, now, {}});
    }
    if (i % 10 == 0) {
      OptionWriter ack_options(std::span<std::byte>(buffer).subspan(32));
      receiver->OnBuildAck({PacketType::kAck, seq, 0, now}, ack_options);
      std::array<RawOption, 3> options;
      std::size_t n = 0;
      for (auto bytes = ack_options.bytes(); !bytes.empty() && n < options.size();) {
        const auto length = std::to_integer<std::size_t>(bytes[1]);
        const OptionType type{std::to_integer<std::uint8_t>(bytes[0])};
        options[n++] = {type, false, bytes.subspan(2, length - 2)};
        bytes = bytes.subspan(length);
      }
      Feedback feedback;
      feedback.now = now;
      feedback.acked = seq;
      feedback.rtt = 10ms;
      feedback.options = std::span(options).first(n);
      sender->OnFeedback(feedback);
    }
    ++seq;
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GE(sender->Stats().loss_events, 900u);
}

}  // namespace
}  // namespace dccp::test
