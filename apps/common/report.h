// The figures of a run, and how they are printed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/common_options.h"
#include "dccp/endpoint.h"

namespace dccp::apps {

using Json = nlohmann::ordered_json;

// One line of progress. An empty optional becomes null.
struct IntervalReport {
  double start_s = 0;
  double end_s = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> lost_packets;
  std::optional<double> rtt_ms;
  std::optional<double> cwnd_packets;       // window-based CCIDs
  std::optional<double> x_bits_per_second;  // rate-based CCIDs
  std::optional<double> loss_event_rate;
  bool omitted = false;

  double BitsPerSecond() const;
};

struct EndReport {
  double seconds = 0;
  std::optional<std::uint64_t> sent_packets;
  std::optional<std::uint64_t> sent_bytes;
  std::optional<std::uint64_t> received_packets;
  std::optional<std::uint64_t> received_bytes;
  std::optional<double> received_seconds;  // the span that the receiver measured
  std::optional<std::uint64_t> lost_packets;
  std::optional<std::uint64_t> out_of_order;
  std::optional<std::uint64_t> duplicates;
  std::optional<double> jitter_ms;
  std::optional<double> cpu_local_percent;
  std::optional<double> cpu_remote_percent;
  std::optional<double> cpu_local_us_per_packet;
  std::optional<double> cpu_remote_us_per_packet;
  std::optional<double> rtt_min_ms;
  std::optional<double> rtt_mean_ms;
  std::optional<double> rtt_max_ms;
  std::optional<double> loss_event_rate;
  std::optional<double> equation_bps;
  std::optional<std::uint64_t> nonce_mismatches;  // where nonces are in use
  std::map<std::string, std::uint64_t> dropped;
  std::optional<CloseReason> close;
  std::optional<std::uint64_t> echoed_packets;
  std::optional<std::uint64_t> echoed_bytes;

  std::optional<double> SentBps() const;
  std::optional<double> ReceivedBps() const;
  std::optional<double> LostPercent() const;
  std::optional<double> RatioToEquation() const;
};

Json ToJson(const IntervalReport& report);
Json ToJson(const EndReport& report);

// The "start" object of a connection that is open.
Json StartToJson(const Endpoint& endpoint, ConnId conn, Encapsulation encap,
                 std::uint32_t payload_bytes);
const char* ClosedByName(ClosedBy by);

// The sum over connections that ran side by side.
EndReport Sum(const std::vector<EndReport>& ends);
IntervalReport Sum(const std::vector<IntervalReport>& intervals);

std::string IntervalHeader();
std::string IntervalText(const std::string& id, const IntervalReport& report);
// Several lines, each ended.
std::string EndText(const std::string& id, const EndReport& report);

}  // namespace dccp::apps
