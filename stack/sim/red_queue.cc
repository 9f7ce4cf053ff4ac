#include "stack/sim/red_queue.h"

#include <cmath>

namespace dccp {

bool RedQueue::Strikes(std::uint64_t packets, double idle_packets, SeededRandom& random) {
  if (idle_packets > 0) average_ *= std::pow(1 - config_.weight, idle_packets);
  average_ += config_.weight * (static_cast<double>(packets) - average_);
  if (average_ < config_.min_packets) {
    since_strike_ = -1;
    return false;
  }
  double p = 0;
  if (average_ < config_.max_packets) {
    p = config_.max_probability * (average_ - config_.min_packets) /
        (config_.max_packets - config_.min_packets);
  } else {
    p = config_.max_probability +
        (1 - config_.max_probability) * (average_ / config_.max_packets - 1);
  }
  ++since_strike_;
  // Spreads the strikes evenly instead of geometrically.
  const double spread = 1 - static_cast<double>(since_strike_) * p;
  const bool strikes = p >= 1 || spread <= p || random.Chance(p / spread);
  if (strikes) since_strike_ = 0;
  return strikes;
}

}  // namespace dccp
