#include "ccid/common/tfrc_equation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace dccp {
namespace {

// f(p): round trips to a packet.
double RttsPerPacket(double p) {
  const double window = std::sqrt(2 * p / 3);
  const double timeouts = 12 * std::sqrt(3 * p / 8) * p * (1 + 32 * p * p);
  return window + timeouts;
}

}  // namespace

double TfrcThroughput(double segment_bytes, Duration rtt, double p) {
  if (!(p > 0) || rtt <= Duration::zero()) return std::numeric_limits<double>::infinity();
  const double r = std::chrono::duration<double>(rtt).count();
  return segment_bytes / (r * RttsPerPacket(std::min(p, 1.0)));
}

double TfrcLossEventRate(double packets_per_rtt) {
  constexpr double kLeast = 1e-15;
  constexpr int kSteps = 80;
  if (!(packets_per_rtt > 1 / RttsPerPacket(1))) return 1;
  // f grows with p; halving the exponent's range 80 times leaves less than a double can tell.
  double low = std::log(kLeast);
  double high = 0;
  const double wanted = 1 / packets_per_rtt;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (RttsPerPacket(std::exp(middle)) < wanted ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace dccp
