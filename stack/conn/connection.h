// One connection: wires the parts of this folder together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dccp/connection.h"
#include "dccp/random.h"
#include "dccp/result.h"
#include "dccp/trace.h"
#include "stack/base/slab.h"
#include "stack/conn/tx_ring.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// Dropped packets by DropReason, as EndpointCounters::dropped.
using DropCounts = std::array<std::uint64_t, static_cast<std::size_t>(DropReason::kCount)>;

// What all connections of an endpoint share. Outlives them.
struct ConnectionEnv {
  Slab* slab = nullptr;
  TxRing* tx = nullptr;
  const CcidRegistry* registry = nullptr;
  RandomSource* random = nullptr;
  TraceSink* trace = nullptr;   // may be null
  DropCounts* drops = nullptr;  // may be null
  Encapsulation encapsulation = Encapsulation::kUdp;
  bool reads_ecn = true;
  Duration msl = kMsl;
};

struct ConnectionInit {
  Role role = Role::kClient;
  ConnId id;
  FlowTuple tuple;
  ServiceCode service_code;
  ConnectionOptions options;
  SeqNo iss;
  std::uint32_t mtu_bytes = 1500;
};

// What becomes of the application data on a Request.
enum class RequestData : std::uint8_t {
  kDeliver,
  kRefuse,  // reported as Drop Code 0, Protocol Constraints. RFC 4340 §8.1.3
};

// The event processing of RFC 4340 §8.5 from step 4 on, for one connection. Steps 1-3 (syntax,
// checksum, look-up, listening) belong to the endpoint, which owns connections and calls:
//
//   client  Create -> StartClient         server  Create -> StartServer(the Request)
//   then    OnPacket, OnIcmp, HandleTimeout as they come; after each, Transmit while WantsTransmit.
//
// It pushes finished packets into env.tx and stops when that is full. Once state() is kTimeWait it
// needs no further call: the endpoint holds the tuple for 2 MSL (§8.5 step 2 answers for it); at
// kClosed the tuple is free at once.
class Connection {
 public:
  // Fails with kUnsupportedCcid or kInvalidArgument when the options cannot be met.
  static Result<std::unique_ptr<Connection>> Create(const ConnectionEnv& env,
                                                    const ConnectionInit& init);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void StartClient(std::span<const std::byte> request_data, TimePoint now);
  // `request` is a Request that passed step 3. The Response is built at once, unless an option of
  // the Request forbids it: then this is why, and all that may follow is Refuse().
  std::optional<ResetReason> StartServer(const PacketView& request, Ecn ecn, TimePoint now);
  // Answers that Request with a Reset, after which state() is kClosed.
  void Refuse(const ResetReason& reason, TimePoint now);

  // StartServer but for the Response: its options go to `options`, unpadded, and its numbers are
  // ISS and the Request's. A server that keeps no state sends that Response with Init Cookies and
  // forgets the connection; when a cookie comes back, the same call with the same arguments makes
  // the same connection again, as of the time at which the Response left. RFC 4340 §8.1.4
  std::optional<ResetReason> DraftResponse(const PacketView& request, Ecn ecn, RequestData data,
                                           TimePoint now, OptionWriter& options);

  void OnPacket(const PacketView& packet, Ecn ecn, TimePoint now);
  void OnIcmp(const IcmpError& error, TimePoint now);
  TimePoint NextTimeout() const;
  void HandleTimeout(TimePoint now);
  bool WantsTransmit(TimePoint now) const;
  // Builds at most `max_packets` data packets, and what else is due.
  void Transmit(TimePoint now, std::uint32_t max_packets = 0xFFFFFFFFu);

  // The application's calls, as in dccp/endpoint.h.
  Result<void> Send(std::span<const std::byte> data, const SendOptions& options);
  Result<std::span<std::byte>> ReserveSend(std::size_t bytes);
  Result<void> CommitSend(std::size_t bytes, const SendOptions& options);
  std::uint32_t SendRoom(std::size_t bytes) const;
  std::size_t Read(std::span<ReceivedDatagram> out);
  void StopReading();
  void SetSlowReceiver(bool slow);
  Result<void> PathChanged(std::uint32_t mtu_bytes, TimePoint now);
  Result<void> RediscoverMtu(TimePoint now);
  Result<void> Close(TimePoint now, Duration drain);
  Result<void> Abort(TimePoint now, ResetCode code);

  // EventBits since the last call.
  std::uint32_t TakeEvents();
  bool HasEvents() const;
  State state() const;
  Role role() const;
  ConnectionInfo Info() const;
  std::uint64_t Feature(FeatureNumber feature, bool located_here) const;

 private:
  class Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dccp
