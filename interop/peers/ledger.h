// The datagrams of the interop peers, and the account of those that arrived. peers/README.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/time.h"

namespace dccp::interop {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr char kDataMark = 'D';
inline constexpr char kEndMark = 'E';

// Fills a datagram so that its receiver can tell which one it is, and that it is whole.
void FillDatagram(std::span<std::byte> out, char mark, std::uint32_t index);

// Counts datagrams, each number once.
class Ledger {
 public:
  explicit Ledger(Duration omit) : omit_(omit) {}

  void Add(std::span<const std::byte> datagram, TimePoint now);

  std::uint64_t received() const { return received_; }
  std::uint64_t unique() const { return received_ - duplicates_; }
  std::uint64_t duplicates() const { return duplicates_; }
  std::uint64_t corrupt() const { return corrupt_; }
  std::uint64_t bytes() const { return bytes_; }
  unsigned end_marks() const { return end_marks_; }
  Duration span() const { return last_ - first_; }
  // Without the time at the start that is to be left out.
  std::uint64_t window_packets() const { return window_packets_; }
  std::uint64_t window_bytes() const { return window_bytes_; }
  Duration window_span() const {
    return window_packets_ == 0 ? Duration::zero() : last_ - window_first_;
  }

 private:
  Duration omit_;
  std::vector<bool> seen_;
  std::uint64_t received_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t corrupt_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t window_packets_ = 0;
  std::uint64_t window_bytes_ = 0;
  unsigned end_marks_ = 0;
  TimePoint first_;
  TimePoint last_;
  TimePoint window_first_;
};

}  // namespace dccp::interop
