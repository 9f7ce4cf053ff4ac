// The receive rates that limit the sending rate. RFC 5348 §4.3, §8.2.2
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include "dccp/time.h"

namespace dccp::tfrc {

// X_recv_set, a value: a few receive rates with the times they were reported at. It begins with
// infinity, so that the first two round trips are not limited by what the receiver saw.
class ReceiveRateSet {
 public:
  // The first data packet left: infinity ages from here.
  void Start(TimePoint now) { entries_[0] = {std::numeric_limits<double>::infinity(), now}; }

  // "Update X_recv_set()"
  void Update(double x_recv, TimePoint now, Duration rtt) {
    std::size_t kept = 0;
    for (const Entry& e : held()) {
      if (now - e.time <= 2 * rtt) entries_[kept++] = e;
    }
    count_ = kept;
    Add({x_recv, now});
  }
  // "Maximize X_recv_set()": one value, the largest, is left.
  void Maximize(double x_recv, TimePoint now) {
    double most = x_recv;
    for (const Entry& e : held()) {
      if (e.rate < std::numeric_limits<double>::infinity()) most = std::max(most, e.rate);
    }
    Replace(most, now);
  }
  void Halve() {
    for (Entry& e : std::span(entries_).first(count_)) e.rate /= 2;
  }
  void Replace(double x_recv, TimePoint now) {
    entries_[0] = {x_recv, now};
    count_ = 1;
  }
  double Max() const {
    double most = 0;
    for (const Entry& e : held()) most = std::max(most, e.rate);
    return most;
  }

 private:
  struct Entry {
    double rate = std::numeric_limits<double>::infinity();
    TimePoint time;
  };
  // Three would do (§8.2.2); losses may draw more than one feedback a round trip.
  static constexpr std::size_t kMost = 4;

  std::span<const Entry> held() const { return std::span(entries_).first(count_); }
  void Add(const Entry& entry) {
    if (count_ == kMost) {
      // The largest are what matters, until they are too old.
      const auto least =
          std::min_element(entries_.begin(), entries_.end(),
                           [](const Entry& a, const Entry& b) { return a.rate < b.rate; });
      std::move(least + 1, entries_.end(), least);
      --count_;
    }
    entries_[count_++] = entry;
  }

  std::array<Entry, kMost> entries_ = {};  // oldest first
  std::size_t count_ = 1;
};

}  // namespace dccp::tfrc
