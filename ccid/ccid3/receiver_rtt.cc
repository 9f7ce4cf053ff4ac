#include "ccid/ccid3/receiver_rtt.h"

#include <algorithm>

#include "ccid/tfrc/units.h"

namespace dccp::ccid3 {
namespace {

// q = 0.9, as in RFC 5348 §4.3.
Duration Smooth(Duration old, Duration sample) { return (9 * old + sample) / 10; }

}  // namespace

void ReceiverRtt::SetReported(bool on) {
  if (on == reported_on_) return;
  reported_on_ = on;
  reported_ = kFirstReported;
  any_number_ = false;
  vague_since_ = kNever;
}

void ReceiverRtt::OnReport(RttEstimate estimate, TimePoint now) {
  if (!reported_on_) return;
  if (estimate.numeric()) {
    const Duration rtt = std::chrono::microseconds(estimate.us);
    reported_ = any_number_ ? Smooth(reported_, rtt) : rtt;
    any_number_ = true;
    vague_since_ = kNever;
    return;
  }
  if (vague_since_ == kNever) {
    vague_since_ = now;
  } else if (now - vague_since_ > reported_) {
    reported_ = std::min(2 * reported_, kLongestReported);
    vague_since_ = now;
  }
}

void ReceiverRtt::OnCounter(std::uint64_t counter, TimePoint now) {
  if (any_counter_ && counter <= newest_) return;
  // A step of five may stand for any time; less is exact to a quarter.
  constexpr std::uint64_t kUnknownStep = 5;
  if (!any_counter_ || counter - newest_ >= kUnknownStep) firsts_ = {};
  any_counter_ = true;
  newest_ = counter;
  First& first = firsts_[counter % firsts_.size()];
  first = {counter, now, true};
  for (std::uint64_t d : {4u, 3u, 2u}) {
    if (counter < d) continue;
    const First& earlier = firsts_[(counter - d) % firsts_.size()];
    if (!earlier.known || earlier.counter != counter - d) continue;
    const Duration sample = (now - earlier.time) * 4 / static_cast<std::int64_t>(d);
    if (sample <= Duration::zero()) return;
    estimated_ = estimated_ == Duration::zero() ? sample : Smooth(estimated_, sample);
    ++samples_;
    return;
  }
}

Duration ReceiverRtt::value() const {
  if (reported_on_) return std::max(reported_, tfrc::kMinRtt);
  return estimated_ == Duration::zero() ? kDefaultRtt : std::max(estimated_, tfrc::kMinRtt);
}

std::optional<Duration> ReceiverRtt::reported() const {
  if (!reported_on_) return std::nullopt;
  return value();
}

}  // namespace dccp::ccid3
