// The sans-IO endpoint: many DCCP connections over one encapsulation, without a socket or a clock.
//
// A driver (dccp/uv_driver.h, a simulation, your own event loop) asks it, in this order, whenever
// datagrams arrived, NextTimeout() came, or the application made a call:
//
//   Receive(batch, now) -> HandleTimeout(now) -> PollEvent() until empty -> Transmit() until 0
//
// An application opens connections, queues datagrams and reads them, between any two of those.
// Thread rule: an Endpoint and everything got from it belong to one thread at a time; run one per
// thread to scale. Ownership: the endpoint copies what it is given, unless said otherwise. No
// function throws. Units are in the names; times are absolute on the driver's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/connection.h"
#include "dccp/cookie_sealer.h"
#include "dccp/export.h"
#include "dccp/random.h"
#include "dccp/result.h"
#include "dccp/service_code.h"
#include "dccp/time.h"
#include "dccp/trace.h"
#include "dccp/types.h"

namespace dccp {

// ------------------------------------------------------------------------ driver-side shapes ----

// What a driver received: one packet, or several of `segment_bytes` each (the last may be shorter)
// from one flow, as UDP GRO delivers them. `bytes` starts at the DCCP header.
struct InboundDatagram {
  std::span<const std::byte> bytes;
  std::uint32_t segment_bytes = 0;  // 0: `bytes` is one packet
  Path path;
  Ecn ecn = Ecn::kNotEct;
};

// What a driver must send. `bytes` stays valid until the next call of Transmit().
struct OutboundDatagram {
  std::span<const std::byte> bytes;
  Path path;
  Ecn ecn = Ecn::kNotEct;
  bool may_fragment = false;  // RFC 4340 §14.2
};

// Answers "what is the MTU of the interface towards this path?" when a connection begins.
class PathMtuSource {
 public:
  virtual ~PathMtuSource() = default;
  // IP packet size in bytes.
  virtual std::uint32_t InitialMtu(const Path& path) = 0;
};

// Keeps the DCCP ports of several programs on one host apart where no kernel does: in native mode
// each of them sees the packets of all. Claims of one program count; it claims and releases a port
// as often as it likes.
class PortArbiter {
 public:
  virtual ~PortArbiter() = default;
  // False: another program has the port.
  virtual bool Claim(std::uint16_t port) = 0;
  virtual void Release(std::uint16_t port) = 0;
  // Another program has the port, so that its packets are not ours to refuse.
  virtual bool TakenElsewhere(std::uint16_t port) = 0;
};

// --------------------------------------------------------------------------- configuration ------

struct EndpointConfig {
  Encapsulation encapsulation = Encapsulation::kUdp;
  const CcidRegistry* registry = nullptr;  // required; must outlive the endpoint
  RandomSource* random = nullptr;          // required; must outlive the endpoint
  TraceSink* trace = nullptr;              // optional; must outlive the endpoint
  PortArbiter* port_arbiter = nullptr;     // optional; must outlive the endpoint
  PathMtuSource* mtu = nullptr;            // optional; without it every path starts at 1500
  CookieSealer* cookie_sealer = nullptr;   // optional; without it no listener sends Init Cookies
  std::uint32_t max_connections =
      65536;  // half-open ones count; TIMEWAIT has as many places of its own
  std::uint64_t memory_bytes = 256u << 20;  // budget for queued datagrams
  bool reads_ecn = true;                    // the driver fills InboundDatagram::ecn
  Duration msl = kMsl;
  std::uint32_t refusals_per_second = 1024;  // Resets to packets without a connection. §8.1.3
};

struct ConnectParams {
  Path path;                      // remote address; local may be unspecified in simulations only
  std::uint16_t remote_port = 0;  // DCCP port, required
  std::uint16_t local_port = 0;   // 0: a random free one from 49152-65535. §5.1
  ServiceCode service_code;
  ConnectionOptions options = {};
  std::span<const std::byte> request_data = {};  // application data on the Request. §8.1.1
};

struct ListenParams {
  std::uint16_t port = 0;                                    // DCCP port, required
  std::vector<ServiceCode> service_codes = {ServiceCode()};  // one or more, none twice
  std::optional<IpAddress> local = {};  // only connections to this address; default: all
  // Half-open connections: those whose client has not answered yet. A Request beyond them takes the
  // place of one that nobody seems to wait for, so that a flood of Requests from forged addresses
  // cannot keep a listener busy. 0: no half-open connection is kept, only cookies are sent.
  std::uint32_t backlog = 4096;
  // With so many half-open connections further Requests are answered by a Response with an Init
  // Cookie, and nothing is kept until it comes back, as TCP does with SYN cookies: then a flood
  // costs nothing but the answers. Default: half the backlog; 0: always. A client must be able to
  // return a cookie, which Linux is not. Needs EndpointConfig::cookie_sealer. §8.1.4
  std::optional<std::uint32_t> cookies_above = {};
  ConnectionOptions options;  // of accepted connections
};

// ------------------------------------------------------------------------------- application ----

struct Event {
  ConnId conn;
  std::uint32_t bits = 0;
  ListenerId listener;  // with kEventAccepted
};

struct EndpointCounters {
  std::uint64_t packets_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t resets_without_connection = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t half_open_evicted = 0;  // given up for a newer one when the backlog was full
  std::uint64_t cookies_sent = 0;       // Responses with Init Cookies, of which nothing was kept
  std::uint64_t cookies_accepted = 0;   // connections made from one
  std::array<std::uint64_t, static_cast<std::size_t>(DropReason::kCount)> dropped = {};
};

class DCCP_EXPORT Endpoint {
 public:
  // `config` must name a registry with at least one CCID and a random source.
  static Result<std::unique_ptr<Endpoint>> Create(const EndpointConfig& config);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // ---- application ----
  Result<ConnId> Connect(const ConnectParams& params, TimePoint now);
  // kPortInUse when another listener has the port and one of the service codes. RFC 5595 §3.3
  Result<ListenerId> Listen(const ListenParams& params);
  Result<void> StopListening(ListenerId listener);

  // Queues one datagram: kMessageTooLarge above ConnectionInfo::mps_bytes, kQueueFull, kBadState
  // once closing or when the peer's application reads no more. Before the connection is open data
  // is queued too.
  Result<void> Send(ConnId conn, std::span<const std::byte> data, const SendOptions& options = {});
  // The same without the copy: write into the span, then Commit. At most one reservation at a time
  // a connection; a commit may be shorter than the reservation.
  Result<std::span<std::byte>> ReserveSend(ConnId conn, std::size_t bytes);
  Result<void> CommitSend(ConnId conn, std::size_t bytes, const SendOptions& options = {});
  // How many more datagrams of `bytes` each Send() would take now.
  std::uint32_t SendRoom(ConnId conn, std::size_t bytes) const;

  // Takes up to out.size() datagrams, oldest first; releases those of the previous Read().
  std::size_t Read(ConnId conn, std::span<ReceivedDatagram> out);

  // The application wants no more data: what waits is dropped, what comes is refused and reported
  // to the peer as "Application Not Listening". RFC 4340 §11.7
  Result<void> StopReading(ConnId conn);
  // Asks the peer not to send faster for now, until taken back. RFC 4340 §11.6
  Result<void> SetSlowReceiver(ConnId conn, bool slow);

  // The packets of this connection take another path now, although its addresses are the same: the
  // congestion state, the round trip time and the path's MTU start afresh. RFC 4340 §10.5
  Result<void> PathChanged(ConnId conn, TimePoint now);
  // Discovers the path's MTU again, from the interface's MTU down. kBadState: it was done less than
  // two seconds ago. RFC 4340 §14.1
  Result<void> RediscoverMtu(ConnId conn, TimePoint now);

  // Sends what is queued, then closes; `drain` bounds the wait for the queue. RFC 4340 §8.3
  Result<void> Close(ConnId conn, TimePoint now, Duration drain = std::chrono::hours(24));
  // Ends it at once with a Reset. RFC 4340 §8.3.1
  Result<void> Abort(ConnId conn, TimePoint now, ResetCode code = ResetCode::kAborted);
  // Gives the handle back: no more events, unread data is dropped. An open connection is aborted;
  // one that is closing finishes in the background.
  void Release(ConnId conn, TimePoint now);

  Result<ConnectionInfo> Info(ConnId conn) const;
  // The agreed value of a feature; `located_here`: F/local, else F/remote. RFC 4340 §6
  Result<std::uint64_t> Feature(ConnId conn, FeatureNumber feature, bool located_here) const;
  // An opaque word of the application's; 0 at first.
  void SetUserData(ConnId conn, std::uint64_t word);
  std::uint64_t UserData(ConnId conn) const;
  // Connections that still need the driver, half-open and closing ones too. After the last has
  // ended an endpoint still answers for a while, if it is driven: a peer whose Reset was lost asks
  // again.
  std::uint32_t ActiveConnections() const;

  // ---- driver ----
  void Receive(std::span<const InboundDatagram> batch, TimePoint now);
  void OnIcmp(const IcmpError& error, TimePoint now);
  std::optional<Event> PollEvent();
  // Fills up to out.size() datagrams, runs of one path and size together; returns how many.
  std::size_t Transmit(std::span<OutboundDatagram> out, TimePoint now);
  TimePoint NextTimeout() const;
  void HandleTimeout(TimePoint now);
  // True if Transmit() would have something to do at `now`.
  bool WantsTransmit(TimePoint now) const;
  // Counts a datagram that the driver had to drop before it reached Receive().
  void CountDrop(DropReason reason);
  const EndpointCounters& counters() const;

 private:
  class DCCP_HIDDEN Impl;
  explicit Endpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dccp
