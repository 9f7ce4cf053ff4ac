// One data connection of a tool: what it carries and its figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "apps/common/data_sender.h"
#include "apps/common/hash_log.h"
#include "apps/common/payload_sink.h"
#include "apps/common/receive_meter.h"
#include "apps/common/report.h"
#include "apps/common/runtime.h"
#include "dccp/endpoint.h"

namespace dccp::apps {

struct SessionConfig {
  bool sending = false;  // the flow that is measured leaves here, else it arrives
  bool echo = false;     // send back what arrives
  bool nonces = false;   // what is sent carries ECN nonces
  PayloadSink* sink = nullptr;
  HashLog* received_hashes = nullptr;
};

// What the other end's figures add to ours; see control.h.
struct RemoteFigures {
  std::uint64_t packets = 0;  // of the measured flow: received there, in a reverse run sent
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::optional<std::uint64_t> out_of_order;
  std::optional<std::uint64_t> duplicates;
  std::optional<double> jitter_ms;
  double cpu_s = 0;
  double cpu_span_s = 0;
};

// Owns the connection's handle and gives it back in the end. Measures from Open() or the last
// Omit() to Stop().
class Session {
 public:
  Session(Runtime* runtime, ConnId conn, const SessionConfig& config);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ConnId conn() const { return conn_; }
  std::optional<DataSender>& sender() { return sender_; }
  bool open() const { return open_; }
  bool stopped() const { return stop_.has_value(); }

  void Open();
  void SetSending(bool sending) { config_.sending = sending; }
  // Reads all that waits.
  void Read();
  // The figures since the last call.
  IntervalReport TakeInterval(bool omitted);
  void Omit();
  // Notes the round trip of the moment.
  void Sample();
  // Ends the measurement; later calls change nothing.
  void Stop();
  // Takes the last state of a connection that is over. Stops.
  void Closed();

  EndReport End() const;
  // Of the measured flow, from Open() on and so with what was omitted: datagrams, and those that
  // were known to be lost when the measurement began.
  std::uint64_t TotalPackets() const { return Packets(stop_ ? *stop_ : base_); }
  std::uint64_t LostBefore() const;
  // What the other end is told of this one.
  RemoteFigures Figures() const;
  // The tuple and close reason; of the last state seen.
  const ConnectionInfo& info() const { return info_; }
  void Refresh();

 private:
  struct Snapshot {
    TimePoint time;
    Duration cpu = Duration::zero();
    ConnectionCounters counters;
    ReceiveMeter meter;
  };
  Snapshot Take();
  void Echo(std::span<const std::byte> bytes);
  std::uint64_t Packets(const Snapshot& s) const;
  std::uint64_t Bytes(const Snapshot& s) const;
  std::optional<std::uint64_t> LostSince(const Snapshot& before, const Snapshot& now) const;
  void AddCpu(const Snapshot& last, EndReport* report) const;

  Runtime* runtime_;
  ConnId conn_;
  SessionConfig config_;
  std::optional<DataSender> sender_;
  ConnectionInfo info_;
  ReceiveMeter meter_;
  bool open_ = false;
  TimePoint opened_;
  Snapshot base_;
  Snapshot last_interval_;
  std::optional<Snapshot> stop_;
  std::uint64_t echo_drops_ = 0;
  std::uint64_t sink_drops_ = 0;
  std::uint64_t rtt_samples_ = 0;
  double rtt_sum_ms_ = 0;
  double rtt_max_ms_ = 0;
  double rtt_min_ms_ = 0;
};

}  // namespace dccp::apps
