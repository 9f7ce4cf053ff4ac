#include "apps/dccp-lab/forward_search.h"

namespace dccp::apps::lab {

namespace {

// A sender that reaches less than this part of the rate is what limits it.
constexpr double kReached = 0.95;

}  // namespace

std::optional<double> RateSearch::Next() const {
  if (left_ == 0 || failed_ - passed_ <= resolution_ * failed_) return std::nullopt;
  return (passed_ + failed_) / 2;
}

void RateSearch::Report(bool passed) {
  const std::optional<double> rate = Next();
  if (!rate) return;
  --left_;
  (passed ? passed_ : failed_) = *rate;
}

bool Passes(const TrialOutcome& trial, double max_loss) {
  return trial.received_per_second > 0 && trial.lost <= max_loss &&
         trial.sent_per_second >= kReached * trial.offered_per_second;
}

}  // namespace dccp::apps::lab
