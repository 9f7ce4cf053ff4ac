#include "ccid/tfrc/loss_average.h"

#include <algorithm>

namespace dccp::tfrc {
namespace {

// w_0 to w_7.
constexpr std::array<double, kIntervals> kWeights = {1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2};
constexpr double kLeastDiscount = 0.25;  // THRESHOLD

// What a peer reports as empty counts as one packet, so that no rate exceeds 1.
double AtLeastOne(double length) { return length > 1 ? length : 1; }

}  // namespace

double LossAverage::Discount(double open, std::span<const double> closed) const {
  double total = 0;
  double weights = 0;
  for (std::size_t i = 0; i < std::min(closed.size(), kIntervals); ++i) {
    total += AtLeastOne(closed[i]) * kWeights[i] * factors_[i];
    weights += kWeights[i] * factors_[i];
  }
  if (weights <= 0) return 1;
  const double twice_mean = 2 * total / weights;
  return open > twice_mean ? std::max(twice_mean / open, kLeastDiscount) : 1;
}

// A loss event: what was discounted stays so, and each interval is one older.
void LossAverage::Shift(double discount) {
  for (std::size_t i = kIntervals - 1; i > 0; --i) factors_[i] = factors_[i - 1] * discount;
  factors_[0] = 1;
}

double LossAverage::Rate(std::span<const double> lengths, std::size_t new_events,
                         OpenInterval open_interval) {
  const bool discounting = discounting_ == HistoryDiscounting::kOn;
  if (discounting) {
    for (std::size_t i = std::min(new_events, lengths.size() - 1); i > 0; --i)
      Shift(Discount(AtLeastOne(lengths[i]), lengths.subspan(i + 1)));
  }
  if (lengths.size() < 2) return 0;
  const std::span<const double> closed = lengths.subspan(1);
  const std::size_t k = std::min(closed.size(), kIntervals);
  const double open = AtLeastOne(lengths[0]);
  const double df = discounting ? Discount(open, closed) : 1;

  double with_open = open * kWeights[0];
  double with_open_weights = kWeights[0];
  double without = 0;
  double without_weights = 0;
  for (std::size_t i = 1; i <= k; ++i) {
    const double length = AtLeastOne(closed[i - 1]);
    const double factor = factors_[i - 1];
    without += length * kWeights[i - 1] * factor;
    without_weights += kWeights[i - 1] * factor;
    if (i == k) break;
    with_open += length * kWeights[i] * factor * df;
    with_open_weights += kWeights[i] * factor * df;
  }
  const double closed_only = without_weights / without;
  if (open_interval == OpenInterval::kTooShort) return closed_only;
  return std::min(with_open_weights / with_open, closed_only);
}

}  // namespace dccp::tfrc
