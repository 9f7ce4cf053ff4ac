// How far from their due times packets left.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dccp/time.h"

namespace dccp::apps::netem {

// Counts durations in buckets of 3 % width; constant memory.
class DelayHistogram {
 public:
  void Add(Duration late) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(late.count(), 0));
    ++counts_[BucketOf(ns)];
    ++total_;
    max_ = std::max(max_, late);
  }
  std::uint64_t total() const { return total_; }
  Duration max() const { return max_; }

  // The value that a share `q` of all is not above, to 3 %; zero for none.
  Duration Quantile(double q) const {
    if (total_ == 0) return Duration::zero();
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(total_ - 1)) + 1;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::min(Duration(UpperEdge(i)), max_);
    }
    return max_;
  }

  // Of both together.
  DelayHistogram& operator+=(const DelayHistogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
    return *this;
  }

 private:
  static constexpr unsigned kSubBits = 5;
  static constexpr std::uint64_t kSub = 1u << kSubBits;

  // Values below 2 * kSub have a bucket each; above, kSub buckets a power of two.
  static constexpr std::size_t BucketOf(std::uint64_t v) {
    if (v < 2 * kSub) return static_cast<std::size_t>(v);
    const unsigned shift = static_cast<unsigned>(std::bit_width(v)) - kSubBits - 1;
    return static_cast<std::size_t>(shift * kSub + (v >> shift));
  }
  static constexpr std::int64_t UpperEdge(std::size_t bucket) {
    if (bucket < 2 * kSub) return static_cast<std::int64_t>(bucket);
    const std::size_t shift = bucket / kSub - 1;
    return static_cast<std::int64_t>(((bucket - shift * kSub + 1) << shift) - 1);
  }

  std::array<std::uint64_t, (64 - kSubBits)* kSub + kSub> counts_ = {};
  std::uint64_t total_ = 0;
  Duration max_ = Duration::zero();
};

}  // namespace dccp::apps::netem
