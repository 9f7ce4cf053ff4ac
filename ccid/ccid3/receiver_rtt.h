// The round-trip time that a receiver works with. RFC 4342 §8.1, RFC 6323 §3.3, §3.4
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ccid/ccid3/options.h"
#include "dccp/time.h"

namespace dccp::ccid3 {

// A value. While Send RTT Estimate is on it follows the sender's reports; else it estimates from
// the window counters of arriving data packets, beginning with what the handshake measured.
class ReceiverRtt {
 public:
  static constexpr Duration kFirstReported = std::chrono::milliseconds(500);
  static constexpr Duration kLongestReported = std::chrono::seconds(64);

  explicit ReceiverRtt(Duration handshake) : estimated_(handshake) {}

  void SetReported(bool on);
  bool reported_on() const { return reported_on_; }
  // A Sender RTT Estimate option.
  void OnReport(RttEstimate estimate, TimePoint now);
  // A data packet that is newer than all before, with the unwrapped counter.
  void OnCounter(std::uint64_t counter, TimePoint now);
  // The connection measured a round trip of its own.
  void OnHandshake(Duration rtt) {
    if (estimated_ == Duration::zero()) estimated_ = rtt;
  }

  // Never zero: the default of RFC 4340 §3.4 while nothing is known.
  Duration value() const;
  // value(), where the sender reports it: then loss events are told apart by it.
  std::optional<Duration> reported() const;
  std::uint64_t samples() const { return samples_; }

 private:
  struct First {
    std::uint64_t counter = 0;
    TimePoint time;
    bool known = false;
  };

  bool reported_on_ = false;
  Duration reported_ = kFirstReported;
  bool any_number_ = false;
  TimePoint vague_since_ = kNever;  // reports without a number, one after the other

  Duration estimated_;                // by window counters; zero: none
  std::array<First, 5> firsts_ = {};  // earliest arrival of the latest counters, a ring by counter
  std::uint64_t newest_ = 0;
  bool any_counter_ = false;
  std::uint64_t samples_ = 0;
};

}  // namespace dccp::ccid3
