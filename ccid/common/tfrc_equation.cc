#include "ccid/common/tfrc_equation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace dccp {

double TfrcThroughput(double segment_bytes, Duration rtt, double p) {
  if (p <= 0 || rtt <= Duration::zero()) return std::numeric_limits<double>::infinity();
  p = std::min(p, 1.0);
  const double r = std::chrono::duration<double>(rtt).count();
  const double t_rto = 4 * r;
  const double window = r * std::sqrt(2 * p / 3);
  const double timeouts = t_rto * 3 * std::sqrt(3 * p / 8) * p * (1 + 32 * p * p);
  return segment_bytes / (window + timeouts);
}

}  // namespace dccp
