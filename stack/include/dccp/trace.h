// Typed trace events. The library does not log: what happens is told to a sink that the embedder
// supplies, and without one each event costs a single pointer test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/export.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// Why a received packet went no further. Each has a counter in the endpoint. The first six are the
// checks of RFC 4340 §8.5, step 1, in their order.
enum class DropReason : std::uint8_t {
  kTooShort,                     // fewer than 12 bytes
  kUnknownType,                  // packet type 10 (where Listen is not wanted) to 15
  kBadDataOffset,                // below the type's header, or beyond the packet
  kShortSeqnoNotAllowedForType,  // X = 0 on a type other than Data, Ack and DataAck
  kBadChecksum,
  kBadChecksumCoverage,  // CsCov reaches beyond the packet
  kUdpLength,            // encapsulation: shorter than a UDP payload can be. RFC 6773 §3.3
  kNotForUs,             // no endpoint of ours has the destination
  kMartian,              // multicast, broadcast, unspecified or zero-port source or destination
  kNoConnection,         // neither connection nor listener
  kSequenceInvalid,      // RFC 4340 §7.5.3
  kUnexpectedType,       // RFC 4340 §8.5, step 7
  kShortSeqnosNotNegotiated,
  kStateClosed,  // the connection is over and does not answer this packet
  kDuplicate,
  kOptionError,
  kBadInitCookie,
  kTooLittleCoverage,  // below Minimum Checksum Coverage: its data only. RFC 4340 §9.2.1
  kDataCorrupt,        // Data Checksum: its data only. RFC 4340 §9.3
  kNotListening,       // data that arrived after the application stopped reading
  kReceiveQueueFull,
  kTooManyConnections,
  kRateLimited,
  kNoBuffers,
  kCount,
};

// A short name in lower case with hyphens, such as "bad-checksum". Never null.
DCCP_EXPORT const char* ToString(DropReason reason);

enum class Direction : std::uint8_t { kSent, kReceived };

// Which end a feature is located at. RFC 4340 §6
enum class FeatureLocation : std::uint8_t { kLocal, kRemote };

// Every packet handed to the network and every one received, once and before it is judged: a
// DropEvent for the same packet may follow. References and spans in events are valid during the
// call only.
struct PacketEvent {
  ConnId conn;  // default-constructed when the packet belongs to no connection
  Direction direction;
  TimePoint time;
  const Path& path;
  Encapsulation encapsulation;
  std::span<const std::byte> dccp_bytes;  // generic header, options and data
  Ecn ecn;
};

// A received packet that was dropped, or that lost its data.
struct DropEvent {
  ConnId conn;
  DropReason reason;
  TimePoint time;
  const Path& path;
  Encapsulation encapsulation;
  std::span<const std::byte> dccp_bytes;
  Ecn ecn;
};

struct StateEvent {
  ConnId conn;
  State from;
  State to;
  TimePoint time;
};

// A feature took a new value. For a list feature (CCID) it is the agreed one.
struct FeatureEvent {
  ConnId conn;
  FeatureNumber feature;
  FeatureLocation at;
  std::uint64_t value;
  TimePoint time;
};

// The sender's congestion control after a feedback or a timeout. What a CCID does not have is 0.
struct CcEvent {
  ConnId conn;
  TimePoint time;
  CcidId ccid;
  std::uint32_t cwnd_packets;
  std::uint32_t pipe_packets;
  std::uint32_t ssthresh_packets;
  std::uint64_t allowed_rate_bytes_per_s;
  double loss_event_rate;
  Duration srtt;
  Duration rto;
  std::uint64_t lost_packets;    // since the connection began
  std::uint64_t marked_packets;  // likewise, by ECN
  std::uint64_t loss_events;     // likewise: reductions of the window or rate
  std::uint64_t timeouts;        // likewise
};

// Receives the events of one endpoint, in order, on the endpoint's thread. It must not call back
// into the endpoint. The endpoint does not own it.
class DCCP_EXPORT TraceSink {
 public:
  TraceSink() = default;
  virtual ~TraceSink() = default;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;

  virtual void OnPacket(const PacketEvent& /*event*/) {}
  virtual void OnDrop(const DropEvent& /*event*/) {}
  virtual void OnState(const StateEvent& /*event*/) {}
  virtual void OnFeature(const FeatureEvent& /*event*/) {}
  virtual void OnCc(const CcEvent& /*event*/) {}
};

}  // namespace dccp
