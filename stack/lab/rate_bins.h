// Rates in bins of time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "stack/lab/statistics.h"
#include "stack/lab/ticker.h"
#include "stack/sim/simulator.h"

namespace dccp::lab {

// Reads a counter of bytes at the end of each bin and keeps the differences, in bytes a second.
class RateBins {
 public:
  RateBins(Simulator& simulator, Duration bin, std::function<std::uint64_t()> counter)
      : counter_(std::move(counter)), ticker_(simulator, bin, [this] { OnTick(); }) {}

  void Start() {
    rates_.clear();
    last_ = counter_();
    ticker_.Start();
  }
  const std::vector<double>& rates() const { return rates_; }
  Duration bin() const { return ticker_.period(); }

  // Standard deviation by mean.
  double Variation() const {
    RunningMoments moments;
    for (const double rate : rates_) moments.Add(rate);
    return moments.variation();
  }
  // The largest change from one bin to the next, in units of the mean.
  double LargestStep() const {
    RunningMoments moments;
    for (const double rate : rates_) moments.Add(rate);
    double step = 0;
    for (std::size_t i = 1; i < rates_.size(); ++i)
      step = std::max(step, std::abs(rates_[i] - rates_[i - 1]));
    return moments.mean() > 0 ? step / moments.mean() : 0;
  }

 private:
  void OnTick() {
    const std::uint64_t now = counter_();
    rates_.push_back(static_cast<double>(now - last_) /
                     std::chrono::duration<double>(bin()).count());
    last_ = now;
  }

  std::function<std::uint64_t()> counter_;
  std::uint64_t last_ = 0;
  std::vector<double> rates_;
  Ticker ticker_;
};

}  // namespace dccp::lab
