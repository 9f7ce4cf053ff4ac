// What one connection is asked for and what it tells: options, events, datagrams, counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "dccp/service_code.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

enum class IcmpKind : std::uint8_t {
  kTooBig,
  kPortUnreachable,
  kProtocolUnreachable,
  kHostUnreachable,
  kNetUnreachable,
  kAdminProhibited,
  kTimeExceeded,
  kParameterProblem,
};

// An ICMP error for something we sent. `quoted` starts at the quoted DCCP header.
struct IcmpError {
  IcmpKind kind;
  std::uint32_t mtu_bytes = 0;  // kTooBig: next-hop MTU, 0 when the router did not say
  Path path;                    // of the packet that was quoted
  std::span<const std::byte> quoted;
};

enum class QueuePolicy : std::uint8_t { kRejectNewest, kDropOldest, kDropLowestPriority };

// The wishes of one side of a connection. Every field has a safe default.
struct ConnectionOptions {
  std::vector<CcidId> tx_ccids;  // preference for data we send; empty: the registry's order
  std::vector<CcidId> rx_ccids;  // preference for data we receive; empty: the same
  bool ecn = true;               // mark data ECT(0) where the peer can read it
  // Mark it ECT(0) or ECT(1) at random instead, which finds out a receiver that conceals losses and
  // marks. Not for paths where ECT(1) means low-latency service (RFC 9331). RFC 4340 §12.2
  bool ecn_nonce = false;
  // Header checksum coverage of the data we send: 0 covers all, n covers the header and (n - 1) * 4
  // bytes, so that damaged media may still arrive. Used where the peer accepts it. §9.2
  std::uint8_t checksum_coverage = 0;
  std::uint8_t min_checksum_coverage = 0;  // least partial coverage we accept, 0: full only. §9.2.1
  bool data_checksum = false;              // CRC-32c on the data we send. §9.3
  bool deliver_corrupt = false;            // deliver data whose CRC-32c fails, flagged. §9.3
  // 24-bit numbers, both ways, where both ends want them and the window is small. Never use them
  // towards Linux, which agrees to them but cannot read them. §7.6
  bool short_seqnos = false;
  bool send_ndp_count = false;          // ask the peer to send NDP Counts, and offer ours. §7.7
  std::uint64_t sequence_window = 100;  // initial Sequence Window, 32 to 2^46 - 1. §7.5.2
  std::uint32_t ack_ratio = 2;          // initial Ack Ratio, 0 to 65535. §11.3
  Duration user_timeout = Duration::zero();  // zero: off. Give up on a peer that owes us an answer
  Duration request_timeout = std::chrono::minutes(3);  // give up connecting. §8.1.1
  Duration keep_alive = Duration::zero();  // zero: off. An empty Data packet after such silence
  std::uint32_t send_queue_datagrams = 256;
  std::uint64_t send_queue_bytes = 4u << 20;
  std::uint32_t receive_queue_datagrams = 4096;
  std::uint64_t receive_queue_bytes = 16u << 20;
  QueuePolicy queue_policy = QueuePolicy::kRejectNewest;
  bool server_timewait = false;        // a closing server sends Close, not CloseReq. §8.3
  std::uint32_t max_packet_bytes = 0;  // IP packet size limit below the path's MTU; 0: none
  // Find the path's MTU where ICMP is filtered, by padded Syncs. Safe to leave on: while full-size
  // datagrams get through it sends nothing, and a lost probe is neither data nor congestion.
  // Without it only ICMP lowers the MTU. RFC 8899; RFC 4340 §14.1
  bool probe_path_mtu = true;
  // Take datagrams larger than the path's MTU, up to what the congestion control allows, and let IP
  // fragment them. One lost fragment loses the datagram: better send smaller ones. RFC 4340 §14
  bool allow_fragmentation = false;
  std::optional<SeqNo> initial_sequence;  // tests and replays only; default: unpredictable. §7.2
};

// Bits of an event; several may be set at once.
enum EventBits : std::uint32_t {
  kEventAccepted = 1u << 0,     // a listener has a new connection, open in both directions
  kEventConnected = 1u << 1,    // Connect() succeeded: data may flow
  kEventReadable = 1u << 2,     // datagrams wait
  kEventWritable = 1u << 3,     // the send queue has room again after it refused a datagram
  kEventClosed = 1u << 4,       // over, see ConnectionInfo::close; unread data stays readable
  kEventPeerStopped = 1u << 6,  // the peer's application reads no more: Send() fails from now on
  kEventMpsChanged = 1u << 5,   // the maximum packet size is another one
};

struct SendOptions {
  TimePoint deadline = kNever;  // drop it unsent if it still waits then
  std::uint8_t priority = 0;    // higher survives longer under kDropLowestPriority
};

// A datagram as it arrived; `bytes` stays valid until the next Read() or Release() of its
// connection. An empty one is a datagram too. RFC 4340 §5.4
struct ReceivedDatagram {
  std::span<const std::byte> bytes;
  SeqNo seq;  // of the packet that carried it
  TimePoint arrival;
  bool corrupt = false;  // its Data Checksum failed and the application asked for such data
};

enum class ClosedBy : std::uint8_t {
  kNobody,       // still there
  kLocal,        // Close() or Abort()
  kRemote,       // the peer's Close, CloseReq or Reset
  kTimeout,      // the peer did not answer
  kProtocol,     // the peer broke the protocol and we sent a Reset
  kUnreachable,  // ICMP said so while connecting
};

struct CloseReason {
  ClosedBy by = ClosedBy::kNobody;
  bool clean = false;           // ended by Close and Reset(Closed), nothing undelivered known
  bool reset_received = false;  // `reset` came from the peer, else we sent it
  ResetReason reset;
  IcmpKind icmp = IcmpKind::kPortUnreachable;  // with kUnreachable
};

struct ConnectionCounters {
  std::uint64_t packets_sent = 0;       // of any type
  std::uint64_t packets_received = 0;   // valid ones, of any type
  std::uint64_t data_packets_sent = 0;  // also each Request with application data
  std::uint64_t data_bytes_sent = 0;    // application bytes
  std::uint64_t data_packets_received = 0;
  std::uint64_t data_bytes_received = 0;
  std::uint64_t data_packets_lost = 0;  // of those we sent, as our CCID inferred
  std::uint64_t data_packets_marked = 0;
  std::uint64_t acks_sent = 0;  // pure Acks
  std::uint64_t acks_received = 0;
  std::uint64_t syncs_sent = 0;
  std::uint64_t syncs_received = 0;
  std::uint64_t mtu_probes = 0;       // of syncs_sent: padded ones
  std::uint64_t mtu_black_holes = 0;  // times that only smaller packets still got through
  std::uint64_t duplicates = 0;
  std::uint64_t sequence_invalid = 0;
  std::uint64_t nonce_mismatches = 0;   // acknowledgements with a wrong ECN Nonce Echo. §12.2
  std::uint64_t false_acks = 0;         // packets acknowledged that were never sent. §12.3
  std::uint64_t elapsed_too_large = 0;  // Elapsed Times longer than the round trip. §13.2
  std::uint64_t queue_drops = 0;        // send queue: oldest, expired or low priority
  std::uint64_t receive_overflows = 0;  // receive queue full: Drop Code 2
};

struct ConnectionInfo {
  State state = State::kClosed;
  Role role = Role::kClient;
  FlowTuple tuple;
  ServiceCode service_code;
  CcidId tx_ccid = CcidId::k2;  // of the data we send
  CcidId rx_ccid = CcidId::k2;
  std::uint32_t mps_bytes = 0;       // largest datagram that Send() takes. §14
  std::uint32_t path_mtu_bytes = 0;  // IP packet size that the path carries, as far as is known
  Duration rtt = Duration::zero();   // best estimate; zero: none
  std::uint32_t send_queue_datagrams = 0;
  ConnectionCounters counters;
  SenderStats sender;
  ReceiverStats receiver;
  CloseReason close;
};

}  // namespace dccp
