// What arrived on a connection: counts, order, loss and jitter.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/endpoint.h"
#include "dccp/time.h"

namespace dccp::apps {

// A value: fed with every datagram read, copied to measure an interval as a difference. Loss is
// known only from stamped payload (see stamp.h) and from what arrived since; jitter is that of RFC
// 3550 §6.4.1.
class ReceiveMeter {
 public:
  void Add(const ReceivedDatagram& datagram);

  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_; }
  // Datagrams with a sequence number below the highest one before.
  std::uint64_t out_of_order() const { return out_of_order_; }
  // Stamped datagrams that should have arrived and did not (yet).
  std::optional<std::uint64_t> lost() const;
  std::optional<double> jitter_ms() const;
  TimePoint first_arrival() const { return first_arrival_; }
  TimePoint last_arrival() const { return last_arrival_; }

 private:
  void AddStamp(const ReceivedDatagram& datagram);

  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t out_of_order_ = 0;
  SeqNo highest_;
  bool stamped_ = true;  // so far
  bool timed_ = false;
  std::uint64_t expected_ = 0;  // one more than the highest counter, unwrapped
  Duration last_transit_ = Duration::zero();
  double jitter_ns_ = 0;
  TimePoint first_arrival_;
  TimePoint last_arrival_;
};

}  // namespace dccp::apps
