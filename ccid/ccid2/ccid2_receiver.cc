#include "ccid/ccid2/ccid2_receiver.h"

#include <algorithm>
#include <limits>

namespace dccp::ccid2 {
namespace {

// Ack Ratio 0 means that the peer does not use the feature; CCID 2 is clocked by acknowledgements
// all the same, so it gets the default. RFC 4340 §11.3
std::uint32_t Effective(std::uint64_t ack_ratio) {
  if (ack_ratio == 0) return 2;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ack_ratio, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Ccid2Receiver::Ccid2Receiver(const CcidInit& init)
    : ack_ratio_(Effective(init.ack_ratio)), last_data_(init.now) {
  stats_.rtt = init.path.rtt;
}

ReceiverVerdict Ccid2Receiver::OnPackets(const ArrivedRun& run) {
  const bool marked = run.ecn == Ecn::kCe;
  stats_.packets += run.packets;
  if (marked) stats_.marked += run.packets;
  // Acknowledgements are not acknowledged for their own sake: that would never end.
  if (!run.data || run.packets == 0) return {};

  last_data_ = run.arrival;
  all_acks_seen_ = false;
  unacknowledged_ += run.packets;
  deadline_ = Earlier(deadline_, run.arrival + kMaxDelay);
  const bool mark_due = marked && TakeMark(run.arrival);
  const bool due = unacknowledged_ >= ack_ratio_ || !run.in_order || mark_due;
  return {due ? AckDemand::Now() : AckDemand::By(deadline_), std::nullopt};
}

bool Ccid2Receiver::TakeMark(TimePoint now) {
  if (last_mark_ack_ && now - *last_mark_ack_ < RttOrDefault()) return false;
  last_mark_ack_ = now;
  return true;
}

void Ccid2Receiver::OnBuildAck(const BuildInfo& /*info*/, OptionWriter& /*options*/) {
  unacknowledged_ = 0;
  deadline_ = kNever;
}

void Ccid2Receiver::OnAckOfAck(bool everything, TimePoint /*now*/) { all_acks_seen_ = everything; }

AckDemand Ccid2Receiver::OnTimeout(TimePoint now) {
  if (now < deadline_) return AckDemand::None();
  deadline_ = kNever;
  return AckDemand::Now();
}

bool Ccid2Receiver::PeerQuiescent(TimePoint now) const {
  // RFC 4341 §6.2.1
  const Duration t = std::max<Duration>(std::chrono::milliseconds(200), 2 * RttOrDefault());
  return all_acks_seen_ && now - last_data_ >= t;
}

void Ccid2Receiver::OnPathInfo(const PathInfo& path, TimePoint /*now*/) {
  if (path.rtt > Duration::zero()) stats_.rtt = path.rtt;
}

void Ccid2Receiver::OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) {
  // Ack Ratio is located at the HC-Sender, so the one that matters here is the peer's.
  if (feature == FeatureNumber::kAckRatio && !located_here) ack_ratio_ = Effective(value);
}

Duration Ccid2Receiver::RttOrDefault() const {
  return stats_.rtt > Duration::zero() ? stats_.rtt : kDefaultRtt;
}

}  // namespace dccp::ccid2
