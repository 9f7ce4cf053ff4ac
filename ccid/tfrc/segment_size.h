// The packet size s of the throughput equation. RFC 5348 §4.1, RFC 4342 §5.3
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dccp::tfrc {

// A value: the mean payload over the last four loss intervals and the open one, so that a change
// of size cannot profit from a rate that was earned with another. While there is no loss the user
// ends the periods, about once a round trip.
class SegmentSize {
 public:
  void OnSent(std::uint64_t packets, std::uint64_t bytes) {
    total_.packets += packets;
    total_.bytes += bytes;
    const Sum since = {total_.packets - marks_[0].packets, total_.bytes - marks_[0].bytes};
    mean_ = static_cast<double>(since.bytes) / static_cast<double>(since.packets);
    if (mean_ < 1) mean_ = 1;
  }
  // A period ends; one without packets is none.
  void EndPeriod() {
    if (total_.packets == marks_.back().packets) return;
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) marks_[i] = marks_[i + 1];
    marks_.back() = total_;
  }
  // Nothing was sent yet: what is about to be.
  void Expect(std::uint32_t bytes) {
    if (total_.packets == 0) mean_ = bytes > 0 ? bytes : 1;
  }

  double mean() const { return mean_; }  // at least 1

 private:
  struct Sum {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
  };
  Sum total_;
  std::array<Sum, 4> marks_ = {};  // where the last four periods began, oldest first
  double mean_ = 1;
};

}  // namespace dccp::tfrc
