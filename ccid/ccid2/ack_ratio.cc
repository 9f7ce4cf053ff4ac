#include "ccid/ccid2/ack_ratio.h"

#include <algorithm>

namespace dccp::ccid2 {

AckRatioControl::AckRatioControl(std::uint32_t current, std::uint32_t acks_per_window)
    : acks_per_window_(acks_per_window),
      current_(current == 0 ? kDefault : std::min(current, kMax)),
      asked_(current_),
      rule_(std::max(current_, kDefault)) {}

std::uint32_t AckRatioControl::MaxFor(std::uint32_t cwnd) {
  return std::clamp(cwnd / 2 + cwnd % 2, kDefault, kMax);
}

void AckRatioControl::OnFeature(std::uint64_t value) {
  current_ =
      value == 0 ? kDefault : static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kMax));
  asked_ = current_;
}

void AckRatioControl::OnPeerSequenceWindow(std::uint64_t value) {
  peer_sequence_window_ = std::max<std::uint64_t>(value, 1);
}

void AckRatioControl::OnWindowEnd(std::uint32_t cwnd) {
  small_windows_ = cwnd <= 2 ? std::min(small_windows_ + 1, kPersistentWindows) : 0;
  // Acknowledgements of a window that began before the peer knew the ratio say nothing about it; to
  // double again for them would be to react twice to one event.
  if (settled_) Adapt(cwnd);
  congested_ = false;
  settled_ = asked_ == current_;
}

void AckRatioControl::Adapt(std::uint32_t cwnd) {
  if (congested_) {
    rule_ = std::min(2 * std::max(rule_, current_), MaxFor(cwnd));
    clean_windows_ = 0;
    return;
  }
  // 2 is the least the rule goes to, as §6.1.2 permits; 1 is the business of Wanted().
  rule_ = std::clamp(rule_, kDefault, MaxFor(cwnd));
  if (rule_ == kDefault) return;
  ++clean_windows_;
  // After cwnd/(R^2 - R) clean windows, without the division.
  const std::uint64_t r = rule_;
  if (clean_windows_ * (r * r - r) < cwnd) return;
  --rule_;
  clean_windows_ = 0;
}

std::uint32_t AckRatioControl::Wanted(std::uint32_t cwnd, std::uint32_t used) const {
  // A window of one packet cannot wait for a second; nor should a window that stays at two, where
  // half of the acknowledgements would wait for the peer's delayed-acknowledgement timer. Once at 1
  // the ratio remains there until the window is 4, so that it does not flap.
  if (cwnd <= 1 || (cwnd == 2 && small_windows_ == kPersistentWindows)) return 1;
  if (cwnd < 4 && current_ == 1) return 1;
  std::uint64_t ratio = std::max(rule_, kDefault);
  if (acks_per_window_ > 0) {
    ratio = std::max<std::uint64_t>(ratio, std::min(used / acks_per_window_, kMaxAheadRatio));
  }
  // At most half of the peer's Sequence Window of acknowledgements under way.
  const std::uint64_t most_acks = std::max<std::uint64_t>(peer_sequence_window_ / 2, 1);
  ratio = std::max(ratio, (used + most_acks - 1) / most_acks);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ratio, MaxFor(cwnd)));
}

std::optional<std::uint32_t> AckRatioControl::Request(std::uint32_t cwnd, std::uint32_t used,
                                                      TimePoint now, Duration rtt) {
  const std::uint32_t wanted = Wanted(cwnd, used);
  const bool forgotten = asked_ != current_ && now - *asked_at_ >= kPatience * rtt;
  if (wanted == asked_ && !forgotten) return std::nullopt;
  const bool due = asked_ > MaxFor(cwnd) || (cwnd >= 4 && asked_ < kDefault) || wanted == 1;
  const std::uint32_t change = wanted > asked_ ? wanted - asked_ : asked_ - wanted;
  if (!due && !forgotten && change * 8 < asked_) return std::nullopt;
  // A ratio above the window stops the flow until a timer runs out; that outweighs the advice to
  // ask only once a round trip.
  if (asked_at_ && now - *asked_at_ < rtt && asked_ <= cwnd) return std::nullopt;
  asked_ = wanted;
  asked_at_ = now;
  settled_ = false;
  return wanted;
}

}  // namespace dccp::ccid2
