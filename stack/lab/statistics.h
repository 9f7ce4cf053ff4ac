// What repeated measurements say.
#pragma once

#include <cstddef>
#include <span>

namespace dccp::lab {

// A sample and what it tells about the mean of all: the true mean lies within mean +- half_width
// with a probability of 95 %, by Student's t distribution.
struct Estimate {
  std::size_t n = 0;
  double mean = 0;
  double sd = 0;          // of single values; 0 for fewer than two
  double half_width = 0;  // infinite for one value
  double least = 0;
  double most = 0;
};
Estimate EstimateOf(std::span<const double> values);

// The value that a t-distributed variable of so many degrees of freedom exceeds with a probability
// of 2.5 %, to four digits. Infinite for none.
double StudentT975(std::size_t degrees);

// (sum x)^2 / (n sum x^2): 1 for equal shares, 1/n where one has all. R. Jain, D. Chiu, W. Hawe,
// 1984. 1 for no values, or none above zero.
double JainIndex(std::span<const double> shares);

// Mean and deviation of a series that is not kept. B. P. Welford, 1962
class RunningMoments {
 public:
  void Add(double x) {
    ++n_;
    const double delta = x - mean_;
    mean_ += delta / static_cast<double>(n_);
    squares_ += delta * (x - mean_);
  }
  std::size_t count() const { return n_; }
  double mean() const { return mean_; }
  double sd() const;
  // sd / mean; 0 while the mean is.
  double variation() const { return mean_ != 0 ? sd() / mean_ : 0; }

 private:
  std::size_t n_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace dccp::lab
