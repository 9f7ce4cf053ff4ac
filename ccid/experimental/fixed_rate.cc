#include "ccid/experimental/fixed_rate.h"

#include <algorithm>

namespace dccp::experimental {
namespace {
constexpr OptionType kOptions[] = {kPacketsReceived};
constexpr CcidTraits kTraits = {
    .id = kFixedRateId, .name = "fixed rate", .needs = {}, .options = kOptions};

// Owns the time of the next packet. Promises never to send faster than the rate, whatever happens
// on the path, and to stop when nobody listens. That is no congestion control.
class Sender final : public CcidSender {
 public:
  explicit Sender(const FixedRateOptions& options) : options_(options) {}
  SendPermit MaySend(std::uint32_t /*payload_bytes*/, TimePoint now) override {
    return now >= next_ ? SendPermit::Now(1) : SendPermit::At(next_);
  }
  BuildDecision OnBuild(const BuildInfo& /*info*/, OptionWriter& /*options*/) override {
    return {};  // CCVal 0, and no need to acknowledge acknowledgements
  }
  void OnSent(const SentRun& run) override {
    if (!run.data) return;  // Acks and Syncs are told of too
    sent_packets_ += run.packets;
    const double ns = 1e9 * static_cast<double>(run.payload_bytes) / options_.bytes_per_second;
    const Duration gap(static_cast<Duration::rep>(ns));
    // A millisecond that a timer was late is made up for; silence earns nothing.
    const TimePoint from = Later(next_, run.time - std::chrono::milliseconds(1));
    next_ = from + (heard_ ? gap : std::max<Duration>(gap, std::chrono::seconds(1)));
    if (timeout_ == kNever) timeout_ = run.time + options_.patience;
  }
  CcidRequests OnFeedback(const Feedback& feedback) override {
    heard_ = true;
    timeout_ = kNever;
    for (const RawOption& option : feedback.options) {
      if (option.type != kPacketsReceived || option.data.size() != 4) continue;
      double received = 0;
      for (std::byte b : option.data) received = received * 256 + std::to_integer<int>(b);
      // What is still under way counts as lost: good enough for a figure.
      lost_share_ = std::max(1 - received / static_cast<double>(sent_packets_), 0.0);
    }
    return {};
  }
  TimePoint NextTimeout() const override { return timeout_; }
  CcidRequests OnTimeout(TimePoint now) override {
    if (now < timeout_) return {};
    heard_ = false;
    timeout_ = kNever;  // the next packet starts it again
    return {.features = {}, .abandon_in_flight = true, .reset = {}};
  }
  void OnAppState(AppState /*state*/, TimePoint /*now*/) override {}
  void OnPathInfo(const PathInfo& /*path*/, TimePoint /*now*/) override {}
  void OnPathChange(TimePoint /*now*/) override {}
  void OnFeature(FeatureNumber, std::uint64_t, bool) override {}
  SenderStats Stats() const override {
    SenderStats stats;
    stats.x_bytes_per_second = options_.bytes_per_second;
    stats.loss_event_rate = lost_share_;
    return stats;
  }

 private:
  FixedRateOptions options_;
  TimePoint next_ = TimePoint::min();  // when the next packet may leave
  TimePoint timeout_ = kNever;
  bool heard_ = true;
  std::uint64_t sent_packets_ = 0;
  double lost_share_ = 0;
};

// Owns the count of what came. Promises an acknowledgement with it for each 64 data packets, and
// within a tenth of a second.
class Receiver final : public CcidReceiver {
 public:
  ReceiverVerdict OnPackets(const ArrivedRun& run) override {
    if (!run.data || run.packets == 0) return {};  // acknowledging Acks would never end
    stats_.packets += run.packets;
    unreported_ += run.packets;
    last_data_ = run.arrival;
    deadline_ = Earlier(deadline_, run.arrival + std::chrono::milliseconds(100));
    return {unreported_ >= 64 ? AckDemand::Now() : AckDemand::By(deadline_), {}};
  }
  void OnBuildAck(const BuildInfo& /*info*/, OptionWriter& options) override {
    if (!options.AddInteger(kPacketsReceived, stats_.packets & 0xFFFFFFFFu, 4)) return;
    unreported_ = 0;
    deadline_ = kNever;
  }
  void OnAckOfAck(bool /*everything*/, TimePoint /*now*/) override {}
  TimePoint NextTimeout() const override { return deadline_; }
  AckDemand OnTimeout(TimePoint now) override {
    if (now < deadline_) return AckDemand::None();
    deadline_ = kNever;
    return AckDemand::Now();
  }
  bool PeerQuiescent(TimePoint now) const override {
    return stats_.packets == 0 || now - last_data_ > std::chrono::milliseconds(400);
  }
  void OnPathInfo(const PathInfo& /*path*/, TimePoint /*now*/) override {}
  void OnFeature(FeatureNumber, std::uint64_t, bool) override {}
  ReceiverStats Stats() const override { return stats_; }

 private:
  std::uint64_t unreported_ = 0;
  TimePoint deadline_ = kNever;
  TimePoint last_data_;
  ReceiverStats stats_;
};

}  // namespace

const CcidTraits& FixedRateFactory::traits() const { return kTraits; }
std::unique_ptr<CcidSender> FixedRateFactory::NewSender(const CcidInit&) const {
  return std::make_unique<Sender>(options_);
}
std::unique_ptr<CcidReceiver> FixedRateFactory::NewReceiver(const CcidInit&) const {
  return std::make_unique<Receiver>();
}

}  // namespace dccp::experimental
