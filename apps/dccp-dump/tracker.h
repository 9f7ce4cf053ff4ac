// Follows the connections of a capture.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "apps/dccp-dump/packet.h"

namespace dccp::apps {

// A packet that was seen, by its sequence number.
struct SeenPacket {
  std::int64_t time_ns = 0;
  std::uint64_t digest = 0;  // of its bytes: tells a copy that the network made from a repetition
};

// What one end of a connection sent.
struct FlowSide {
  IpAddress address;
  std::uint16_t port = 0;
  std::uint16_t udp_port = 0;
  std::uint64_t packets = 0;
  std::uint64_t data_packets = 0;
  std::uint64_t payload_bytes = 0;
  bool any = false;  // greatest is known
  SeqNo lowest;
  SeqNo greatest;
  std::unordered_map<std::uint64_t, SeenPacket> sent;  // by sequence number
  std::unordered_set<std::uint64_t> reported_missing;  // by the peer's Ack Vectors
  std::uint64_t repeated = 0;
  // Round trips from this end's packets to their first acknowledgement, as the capture saw them.
  std::uint64_t rtt_samples = 0;
  double rtt_min_ms = 0;
  double rtt_max_ms = 0;
  double rtt_sum_ms = 0;
  std::optional<SeqNo> last_acked;
  std::map<unsigned, std::uint64_t> features;  // located at this end, as confirmed

  // Sequence numbers between the lowest and the greatest that the capture lacks.
  std::uint64_t Missing() const;
};

struct Connection {
  bool udp = false;
  FlowSide side[2];  // 0: the client, where the capture shows a Request
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  bool request = false;
  bool response = false;
  bool established = false;  // an acknowledgement of the Response
  std::optional<ServiceCode> service_code;
  std::optional<ResetReason> reset;
  int reset_by = 0;
};

// Owns every connection seen. Update() completes a packet (48-bit numbers, CCIDs, violations that
// only the flow shows) and adds it to its connection's account.
class Tracker {
 public:
  // Where a packet belongs: the index in connections(), and which side sent it.
  struct Place {
    std::size_t connection = 0;
    int sender = 0;
  };
  // Nothing for a packet that could not be parsed.
  std::optional<Place> Update(DumpPacket* packet);
  const std::deque<Connection>& connections() const { return connections_; }

 private:
  Place Find(const DumpPacket& packet);
  static void ExtendNumbers(const FlowSide& from, const FlowSide& to, DumpPacket* packet);
  static void CheckNumbers(const FlowSide& from, const FlowSide& to, DumpPacket* packet);
  static void CountPacket(const DumpPacket& packet, FlowSide* from);
  static void TakeAcknowledgement(const DumpPacket& packet, FlowSide* to);
  static void TakeOptions(const DumpPacket& packet, FlowSide* from, FlowSide* to);

  std::deque<Connection> connections_;
  std::map<std::string, std::size_t> by_tuple_;
};

// One line: the tuple, the handshake, features, traffic, loss, round trip, the end.
std::string StatsLine(const Connection& connection);

}  // namespace dccp::apps
