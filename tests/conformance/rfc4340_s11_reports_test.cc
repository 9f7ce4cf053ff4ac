// RFC 4340 §11: whatever the network drops or marks, the sender's CCID is told.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "dccp/ccid2.h"
#include "stack/sim/sim_pair.h"
#include "stack/wire/packet_view.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What feedback told of each data packet, by the low 48 bits of its number.
using Fates = std::map<std::uint64_t, Fate>;

// CCID 2 with a record of what it is told.
class RecordingSender final : public CcidSender {
 public:
  RecordingSender(std::unique_ptr<CcidSender> real, Fates& fates)
      : real_(std::move(real)), fates_(fates) {}
  SendPermit MaySend(std::uint32_t payload_bytes, TimePoint now) override {
    return real_->MaySend(payload_bytes, now);
  }
  BuildDecision OnBuild(const BuildInfo& info, OptionWriter& options) override {
    return real_->OnBuild(info, options);
  }
  void OnSent(const SentRun& run) override { real_->OnSent(run); }
  CcidRequests OnFeedback(const Feedback& feedback) override {
    for (const FateRun& run : feedback.runs) {
      for (std::uint32_t i = 0; i < run.packets; ++i) {
        // A packet called lost too early may still arrive; the first word stands.
        fates_.emplace((run.first + i).Wrap().value(), run.fate);
      }
    }
    return real_->OnFeedback(feedback);
  }
  TimePoint NextTimeout() const override { return real_->NextTimeout(); }
  CcidRequests OnTimeout(TimePoint now) override { return real_->OnTimeout(now); }
  void OnAppState(AppState state, TimePoint now) override { real_->OnAppState(state, now); }
  void OnPathInfo(const PathInfo& path, TimePoint now) override { real_->OnPathInfo(path, now); }
  void OnPathChange(TimePoint now) override { real_->OnPathChange(now); }
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool here) override {
    real_->OnFeature(feature, value, here);
  }
  SenderStats Stats() const override { return real_->Stats(); }

 private:
  std::unique_ptr<CcidSender> real_;
  Fates& fates_;
};

class RecordingFactory final : public CcidFactory {
 public:
  const CcidTraits& traits() const override { return real_.traits(); }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override {
    return std::make_unique<RecordingSender>(real_.NewSender(init), fates);
  }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override {
    return real_.NewReceiver(init);
  }
  mutable Fates fates;

 private:
  Ccid2Factory real_;
};

// What the link did to data packets.
class Watcher final : public LinkObserver {
 public:
  void OnOffered(const Link& /*link*/, const SimPacket& packet, const LinkAction& /*action*/,
                 const PathVerdict& verdict, TimePoint /*now*/) override {
    PacketView view;
    if (PacketView::Parse(packet.bytes, &view) != ParseError::kNone) return;
    if (view.type() != PacketType::kData && view.type() != PacketType::kDataAck) return;
    last = view.seq().value();
    if (verdict.copies == 0)
      dropped.insert(last);
    else if (verdict.ecn == Ecn::kCe)
      marked.insert(last);
    else
      passed.insert(last);
  }
  std::set<std::uint64_t> dropped, marked, passed;
  std::uint64_t last = 0;
};

class Reports : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Reports, R4340_CC_04_ECN_02_EveryLossAndEveryMarkIsReported) {
  RecordingFactory factory;
  Ccid2Factory plain;
  CcidRegistry recording;
  CcidRegistry other;
  ASSERT_TRUE(recording.Add(factory) && other.Add(plain));
  SimPairConfig config;
  config.seed = GetParam();
  config.endpoint.registry = &recording;
  config.server_endpoint = EndpointConfig();
  config.server_endpoint->registry = &other;
  config.client.ecn_nonce = GetParam() % 2 == 0;
  config.to_server = {.delay = milliseconds(10), .loss = 0.03, .ecn_mark = 0.03};
  config.to_client = {.delay = milliseconds(10), .loss = 0.1};
  SimPair pair(config);
  Watcher watcher;
  pair.to_server().SetObserver(&watcher);
  ASSERT_TRUE(pair.Establish());
  std::uint32_t number = 0;
  while (pair.now() < Simulator::kStart + seconds(120)) {
    while (pair.client.SendNumbered(number, 500).ok()) ++number;
    pair.Run(milliseconds(10));
  }
  // What was sent lately may still be undecided.
  ASSERT_GT(watcher.dropped.size(), 50u);
  ASSERT_GT(watcher.marked.size(), 50u);
  const auto settled = [&](std::uint64_t seq) {
    return SeqNo(watcher.last).Minus(SeqNo(seq)) > 1000;
  };
  const std::uint64_t timeouts = pair.client.info().sender.timeouts;
  std::size_t silent = 0;
  for (const std::uint64_t seq : watcher.dropped) {
    if (!settled(seq)) continue;
    const auto told = factory.fates.find(seq);
    // A whole flight abandoned by a timeout is told by the timeout itself.
    if (told == factory.fates.end())
      ++silent;
    else
      EXPECT_EQ(told->second, Fate::kLost) << seq;
  }
  EXPECT_LE(silent, 20 * timeouts);
  for (const std::uint64_t seq : watcher.marked) {
    if (!settled(seq)) continue;
    const auto told = factory.fates.find(seq);
    ASSERT_NE(told, factory.fates.end()) << seq;
    EXPECT_TRUE(told->second == Fate::kMarked || told->second == Fate::kLate) << seq;
  }
  for (const std::uint64_t seq : watcher.passed) {
    if (!settled(seq)) continue;
    const auto told = factory.fates.find(seq);
    ASSERT_NE(told, factory.fates.end()) << seq;
    EXPECT_TRUE(told->second == Fate::kReceived || told->second == Fate::kLate) << seq;
  }
  EXPECT_EQ(pair.client.info().counters.nonce_mismatches, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Reports, ::testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace dccp
