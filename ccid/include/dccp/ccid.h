// The congestion control interface: how a CCID module and a connection talk to each other.
//
// A CCID is two objects, one for each role on a half-connection: a CcidSender decides when data may
// leave, a CcidReceiver decides when and with what options to acknowledge. Both are pure: values
// in, a decision out. They own no timer, buffer or socket and read no clock; `now` never runs
// backwards. A connection calls them once per packet (or run of packets) sent or received and once
// per feedback, never once per acknowledged packet. RFC 4340 §10
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dccp/export.h"
#include "dccp/option_writer.h"
#include "dccp/seqno.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// One option from a packet, undecoded; `data` lacks the type and length bytes and is valid only for
// the duration of the call.
struct RawOption {
  OptionType type;
  bool mandatory;
  std::span<const std::byte> data;
};

// What the connection knows of the path.
struct PathInfo {
  Duration rtt = Duration::zero();  // best estimate so far; zero: none yet
  std::uint32_t mps_bytes = 0;      // largest application payload that fits one packet
  std::uint32_t mtu_bytes = 0;      // largest IP packet that the path carries; 0: not known
};

// ------------------------------------------------------------------------------------- sender ----

// The answer to "may data of this size leave now?"
struct SendPermit {
  enum class Kind : std::uint8_t {
    kNow,      // up to `packets` packets may leave back to back before asking again
    kAt,       // ask again at `at`
    kBlocked,  // ask again after the next feedback or timeout
  };
  Kind kind = Kind::kBlocked;
  std::uint32_t packets = 0;
  TimePoint at = kNever;

  static constexpr SendPermit Now(std::uint32_t packets) { return {Kind::kNow, packets, kNever}; }
  static constexpr SendPermit At(TimePoint t) { return {Kind::kAt, 0, t}; }
  static constexpr SendPermit Blocked() { return {}; }
};

// A packet that is about to be built.
struct BuildInfo {
  PacketType type;  // as planned; a CCID may turn Data into DataAck, see below
  Seq64 seq;        // the number it will carry
  std::uint32_t payload_bytes;
  TimePoint now;
};

struct BuildDecision {
  std::uint8_t ccval = 0;    // 0-15, for data packets. RFC 4340 §5.1
  bool acknowledge = false;  // turn Data into DataAck: acknowledge the peer's acks. §11.1
};

// Packets that were handed to the network, with consecutive sequence numbers and equal kind.
struct SentRun {
  Seq64 first;
  std::uint32_t packets;
  std::uint64_t payload_bytes;  // of the whole run
  bool data;                    // Data, DataAck, or a Request/Response with application data
  bool app_limited;             // the send queue was empty after this run left
  TimePoint time;
};

// What became of packets we sent.
enum class Fate : std::uint8_t {
  kReceived,  // acknowledged, Ack Vector State 0
  kMarked,    // acknowledged, State 1 (ECN Congestion Experienced)
  kLost,      // inferred lost: three packets sent later were acknowledged. RFC 4341 §5
  kLate,      // acknowledged after it had been reported lost or abandoned: leaves no more pipe
};

// Consecutive packets with one fate, reported once. Runs hold data and non-data packets alike.
struct FateRun {
  Seq64 first;
  std::uint32_t packets;       // sequence numbers covered
  std::uint32_t data_packets;  // of which data packets
  std::uint64_t data_bytes;    // application bytes in them
  TimePoint sent_first;        // send time of the oldest and the newest packet of the run
  TimePoint sent_last;
  Fate fate;
};

// Why a receiver dropped data that the network had delivered. RFC 4340 §11.7
enum class DropCode : std::uint8_t {
  kProtocolConstraints = 0,
  kAppNotListening = 1,
  kReceiveBuffer = 2,
  kCorrupt = 3,
  kDeliveredCorrupt = 7,
};

// Newly reported Data Dropped state of consecutive data packets.
struct DataDroppedRun {
  Seq64 first;
  std::uint32_t packets;
  DropCode code;
};

// A delivery-rate sample over the packets that this feedback newly acknowledged.
struct RateSample {
  std::uint64_t delivered_packets = 0;  // delivered between the snapshot and now
  std::uint64_t delivered_bytes = 0;
  Duration interval = Duration::zero();  // the longer of the send and the ack interval; zero: none
  bool app_limited = false;              // the snapshot was taken while application-limited
};

enum class NonceVerdict : std::uint8_t { kUnknown, kMatch, kMismatch };

// One acknowledgement, digested. Spans are valid only for the duration of the call.
struct Feedback {
  TimePoint now;
  Seq64 acked;                              // the Acknowledgement Number
  bool ack_vector = false;                  // the packet carried Ack Vectors: `runs` tells all
  std::span<const FateRun> runs;            // newly decided fates, oldest first
  std::uint32_t received_data_packets = 0;  // sums over `runs`, by fate
  std::uint64_t received_data_bytes = 0;
  std::uint32_t marked_data_packets = 0;
  std::uint32_t lost_data_packets = 0;
  std::uint32_t in_flight_data_packets = 0;  // data packets still undecided after this feedback
  // Losses and ECN marks of the peer's non-data packets since the last feedback; a lost packet of
  // unknown kind counts as non-data. RFC 4341 §6.1.1
  std::uint32_t reverse_lost = 0;
  std::uint32_t reverse_marked = 0;
  std::span<const DataDroppedRun> data_dropped;
  bool slow_receiver = false;  // RFC 4340 §11.6
  NonceVerdict nonce = NonceVerdict::kUnknown;
  std::optional<Duration> elapsed;  // Elapsed Time of the packet. RFC 4340 §13.2
  // Round trip of the newest packet newly acknowledged, Elapsed Time subtracted; at most one a
  // feedback, absent where the acknowledged packet was acknowledged before. Zero is possible.
  std::optional<Duration> rtt;
  RateSample rate;
  std::span<const RawOption> options;  // types 192-255, in order
};

// Requests to the connection, as the answer to a feedback or a timeout.
struct FeatureRequest {
  FeatureNumber feature;
  std::uint64_t value;
};
struct CcidRequests {
  std::array<FeatureRequest, 2> features = {};  // change non-negotiable features located here
  std::uint8_t feature_count = 0;
  bool send_ack = false;             // send an acknowledgement of the peer's acks soon
  bool abandon_in_flight = false;    // timeout: treat every packet in flight as gone (kLate later)
  std::optional<ResetReason> reset;  // the peer's feedback is a fault that ends the connection
};

// Whether the application keeps the send queue filled.
enum class AppState : std::uint8_t { kBacklogged, kAppLimited, kIdle };

// Figures for traces and statistics; a field that a CCID does not have is left at its default.
struct SenderStats {
  double cwnd_packets = 0;
  double ssthresh_packets = 0;
  std::uint32_t pipe_packets = 0;
  Duration srtt = Duration::zero();
  Duration rttvar = Duration::zero();
  Duration min_rtt = Duration::zero();
  Duration rto = Duration::zero();
  double x_bytes_per_second = 0;  // allowed sending rate (TFRC)
  double loss_event_rate = 0;     // p (TFRC)
  std::uint64_t loss_events = 0;  // congestion events reacted to (losses or marks)
  std::uint64_t mark_events = 0;  // of which by ECN
  std::uint64_t timeouts = 0;
  std::uint32_t ack_ratio = 0;
};

class DCCP_EXPORT CcidSender {
 public:
  virtual ~CcidSender() = default;

  // Asked before data leaves; pure Acks and Syncs are never asked for.
  virtual SendPermit MaySend(std::uint32_t payload_bytes, TimePoint now) = 0;
  // Asked once for each packet that will carry data; may add options 128-191.
  virtual BuildDecision OnBuild(const BuildInfo& info, OptionWriter& options) = 0;
  // A Sync or SyncAck is being built: may add options 128-191. RFC 6323 §3.3
  virtual void OnBuildSync(const BuildInfo& /*info*/, OptionWriter& /*options*/) {}
  // Told of every packet sent on the connection, non-data ones too.
  virtual void OnSent(const SentRun& run) = 0;
  virtual CcidRequests OnFeedback(const Feedback& feedback) = 0;
  virtual TimePoint NextTimeout() const = 0;
  virtual CcidRequests OnTimeout(TimePoint now) = 0;
  virtual void OnAppState(AppState state, TimePoint now) = 0;
  // A new RTT estimate from outside (handshake) or a new maximum packet size.
  virtual void OnPathInfo(const PathInfo& path, TimePoint now) = 0;
  // The path is another one now: congestion state must start afresh. RFC 4340 §10.5
  virtual void OnPathChange(TimePoint now) = 0;
  // A feature of this half-connection took a new value. `located_here`: F/sender, else F/receiver.
  virtual void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) = 0;
  virtual SenderStats Stats() const = 0;
};

// ----------------------------------------------------------------------------------- receiver ----

// Packets that arrived and became acknowledgeable, consecutive and equal in the fields below.
struct ArrivedRun {
  Seq64 first;
  std::uint32_t packets;
  std::uint64_t payload_bytes;  // of the whole run
  bool data;                    // data packets (even when empty)
  bool in_order;                // false: late, or a gap lies before it
  std::uint8_t ccval;
  Ecn ecn;
  std::optional<std::uint64_t> ndp;  // NDP Count. RFC 4340 §7.7
  TimePoint arrival;
  std::span<const RawOption> options;  // types 128-191, in order
};

struct AckDemand {
  enum class Kind : std::uint8_t { kNone, kNow, kBy };
  Kind kind = Kind::kNone;
  TimePoint by = kNever;  // kBy: at this time at the latest

  static constexpr AckDemand None() { return {}; }
  static constexpr AckDemand Now() { return {Kind::kNow, kNever}; }
  static constexpr AckDemand By(TimePoint t) { return {Kind::kBy, t}; }
};

struct ReceiverVerdict {
  AckDemand ack;
  std::optional<ResetReason> reset;
};

struct ReceiverStats {
  std::uint64_t packets = 0;
  std::uint64_t marked = 0;
  double loss_event_rate = 0;          // p as the receiver computes it (TFRC)
  double x_recv_bytes_per_second = 0;  // TFRC
  Duration rtt = Duration::zero();     // the receiver's own estimate, zero: none
};

class DCCP_EXPORT CcidReceiver {
 public:
  virtual ~CcidReceiver() = default;

  virtual ReceiverVerdict OnPackets(const ArrivedRun& run) = 0;
  // An acknowledgement of this half-connection is being built (Ack, DataAck, or another packet with
  // an Acknowledgement Number): add options 192-255. Clears a pending demand.
  virtual void OnBuildAck(const BuildInfo& info, OptionWriter& options) = 0;
  // What OnBuildAck would like to write now, in bytes: where it does not fit beside data, a pure
  // Ack carries it.
  virtual std::size_t AckOptionBytes() const { return 0; }
  // The peer acknowledged our acks; `everything`: no received data packet is left whose
  // acknowledgement it has not seen. RFC 4340 §11.1, RFC 4341 §6.2.1
  virtual void OnAckOfAck(bool everything, TimePoint now) = 0;
  virtual TimePoint NextTimeout() const = 0;
  virtual AckDemand OnTimeout(TimePoint now) = 0;
  // True while the peer sends no data, by this CCID's definition.
  virtual bool PeerQuiescent(TimePoint now) const = 0;
  virtual void OnPathInfo(const PathInfo& path, TimePoint now) = 0;
  virtual void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) = 0;
  virtual ReceiverStats Stats() const = 0;
};

// ------------------------------------------------------------------------------------ factory ----

// A feature value that a CCID needs on its half-connection before data flows.
struct CcidFeatureNeed {
  FeatureNumber feature;
  bool at_sender;  // located at the HC-Sender, else at the HC-Receiver
  bool mandatory;  // without it the CCID cannot work
  std::uint64_t value;
};

struct CcidTraits {
  CcidId id;
  const char* name;                     // for people, e.g. "TCP-like"
  std::uint32_t max_payload_bytes = 0;  // CCMPS less headers; 0: no limit of its own. §14
  bool uses_ccval = false;
  std::span<const CcidFeatureNeed> needs;  // static storage
  std::span<const OptionType> options;     // CCID-specific ones it understands, static storage
  // Every acknowledgement carries Elapsed Time, else only one that is late. RFC 4342 §8.2
  bool always_elapsed_time = false;
};

struct CcidInit {
  TimePoint now;
  Seq64 next_seq;  // the next sequence number that this endpoint will send
  PathInfo path;
  std::uint64_t sequence_window = 100;  // Sequence Window of the HC-Sender. RFC 4340 §7.5.2
  std::uint32_t ack_ratio = 2;          // Ack Ratio of the HC-Sender
  Seq64 last_received;  // the greatest number that had come when the CCID began; 0: none
};

class DCCP_EXPORT CcidFactory {
 public:
  virtual ~CcidFactory() = default;
  virtual const CcidTraits& traits() const = 0;
  virtual std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const = 0;
  virtual std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const = 0;
};

// The CCIDs that an endpoint may use. Filled by the embedder, so that a product can ship only the
// ones it needs or add its own; factories are not owned and must outlive every endpoint.
class DCCP_EXPORT CcidRegistry {
 public:
  static constexpr std::size_t kCapacity = 16;

  // False when full or when the id is taken.
  bool Add(const CcidFactory& factory);
  const CcidFactory* Find(CcidId id) const;  // null: not registered
  std::span<const CcidFactory* const> all() const { return {factories_.data(), count_}; }

 private:
  std::array<const CcidFactory*, kCapacity> factories_ = {};
  std::size_t count_ = 0;
};

}  // namespace dccp
