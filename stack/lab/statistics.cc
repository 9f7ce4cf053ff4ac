#include "stack/lab/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dccp::lab {

double StudentT975(std::size_t degrees) {
  constexpr std::array<double, 10> kFew = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                           2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= kFew.size()) return kFew[degrees - 1];
  // The expansion in powers of 1 / degrees around the normal distribution's quantile.
  // M. Abramowitz, I. Stegun, 26.7.5
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(degrees);
  const double z2 = kZ * kZ;
  const double g1 = kZ * (z2 + 1) / 4;
  const double g2 = kZ * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = kZ * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return kZ + g1 / n + g2 / (n * n) + g3 / (n * n * n);
}

Estimate EstimateOf(std::span<const double> values) {
  Estimate estimate;
  if (values.empty()) return estimate;
  RunningMoments moments;
  for (const double value : values) moments.Add(value);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  estimate.n = values.size();
  estimate.mean = moments.mean();
  estimate.sd = moments.sd();
  estimate.least = *least;
  estimate.most = *most;
  estimate.half_width =
      StudentT975(values.size() - 1) *
      (values.size() > 1 ? estimate.sd / std::sqrt(static_cast<double>(values.size())) : 1);
  return estimate;
}

double JainIndex(std::span<const double> shares) {
  double sum = 0;
  double squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 1;
}

double RunningMoments::sd() const {
  return n_ > 1 ? std::sqrt(squares_ / static_cast<double>(n_ - 1)) : 0;
}

}  // namespace dccp::lab
