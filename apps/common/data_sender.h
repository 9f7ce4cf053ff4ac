// Fills the send queue of one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/hash_log.h"
#include "apps/common/payload_source.h"
#include "dccp/endpoint.h"
#include "dccp/time.h"

namespace dccp::apps {

struct SendPlan {
  std::uint32_t size_bytes = 0;          // 0: the largest that fits
  std::uint64_t packets = 0;             // 0: no such limit
  Duration duration = Duration::zero();  // zero: no such limit
  double bits_per_second = 0;            // of payload; 0: as fast as the connection takes it
  PayloadSource* source = nullptr;       // null: generated, stamped payload
  HashLog* hashes = nullptr;
};

// Owns neither endpoint nor plan objects. Pump() is to be called when the connection is writable,
// when the source is ready, and, with a rate, at next_pump().
class DataSender {
 public:
  DataSender(Endpoint* endpoint, ConnId conn, const SendPlan& plan);

  // False with error() filled when the payload cannot fit.
  bool Start(TimePoint now);
  void Pump(TimePoint now);
  // A new maximum packet size.
  bool OnMpsChanged();
  // Queues nothing more from now on.
  void Finish() { finished_ = true; }

  bool finished() const { return finished_; }
  TimePoint next_pump() const { return next_pump_; }
  std::uint32_t size_bytes() const { return size_; }
  std::uint64_t queued_packets() const { return queued_; }
  const std::string& error() const { return error_; }

 private:
  bool TakeSize();
  std::uint64_t Budget(TimePoint now);
  bool QueueOne(TimePoint now);

  Endpoint* endpoint_;
  ConnId conn_;
  SendPlan plan_;
  std::uint32_t size_ = 0;
  std::uint64_t queued_ = 0;
  TimePoint start_;
  TimePoint next_pump_ = kNever;
  bool finished_ = false;
  bool waiting_ = false;
  std::string error_;
  std::vector<std::byte> pattern_;
};

}  // namespace dccp::apps
