// The inside of Endpoint: look-up, listening and scheduling around the connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/base/deadline_heap.h"
#include "stack/base/slab.h"
#include "stack/base/slot_map.h"
#include "stack/conn/connection.h"
#include "stack/conn/tx_ring.h"
#include "stack/endpoint/conn_entry.h"
#include "stack/endpoint/demux.h"
#include "stack/endpoint/init_cookie.h"
#include "stack/endpoint/isn_generator.h"
#include "stack/endpoint/listener_table.h"
#include "stack/endpoint/port_allocator.h"
#include "stack/endpoint/refuser.h"
#include "stack/endpoint/time_wait_table.h"
#include "stack/wire/checksum.h"

namespace dccp {

// Owns the connections and does steps 1 to 3 of RFC 4340 §8.5 for them. After each call into a
// connection Refresh() brings its deadline, its place on the ready lists and its life up to date.
// The implementation is in endpoint_app.cc (application's calls), endpoint_receive.cc (steps 1-3),
// endpoint_cookies.cc (step 3 without state) and endpoint_schedule.cc (timers, events,
// transmission, end of life).
class Endpoint::Impl {
 public:
  explicit Impl(const EndpointConfig& config);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<ConnId> Connect(const ConnectParams& params, TimePoint now);
  Result<ListenerId> Listen(const ListenParams& params);
  Result<void> StopListening(ListenerId listener);
  // Null when the handle is stale or was released.
  ConnEntry* Find(ConnId id);
  const ConnEntry* Find(ConnId id) const { return const_cast<Impl*>(this)->Find(id); }
  // The application queued something: the next Transmit looks at it.
  void Touch(ConnEntry& entry) { transmit_.Add(entry); }
  Result<void> PathChanged(ConnId id, TimePoint now);
  Result<void> RediscoverMtu(ConnId id, TimePoint now);
  Result<void> Close(ConnId id, TimePoint now, Duration drain);
  Result<void> Abort(ConnId id, TimePoint now, ResetCode code);
  void Release(ConnId id, TimePoint now);
  ConnectionInfo Info(const ConnEntry& entry) const;
  std::uint32_t ActiveConnections() const { return active_; }

  void Receive(std::span<const InboundDatagram> batch, TimePoint now);
  void OnIcmp(const IcmpError& error, TimePoint now);
  std::optional<Event> PollEvent();
  std::size_t Transmit(std::span<OutboundDatagram> out, TimePoint now);
  TimePoint NextTimeout() { return deadlines_.Next(); }
  void HandleTimeout(TimePoint now);
  bool WantsTransmit(TimePoint now) const;
  void CountDrop(DropReason reason) { ++counters_.dropped[static_cast<std::size_t>(reason)]; }
  const EndpointCounters& counters() const { return counters_; }

 private:
  // A connection's turn: as many data packets as one segmentation run can hold.
  static constexpr std::uint32_t kQuantumPackets = 64;
  // Room for the answers to a whole batch of received packets: those that find none are lost.
  static constexpr std::size_t kRingPackets = 4096;

  // A packet on its way through the steps.
  struct Inbound {
    std::span<const std::byte> bytes;
    const Path& path;
    Ecn ecn;
    TimePoint now;
  };

  ConnectionEnv Env();
  std::uint32_t InitialMtu(const Path& path) const;
  bool AtCapacity() const;
  bool TupleFree(const FlowTuple& tuple, TimePoint now);
  // Error::kInvalidArgument unless the addresses and ports can name a peer.
  Result<void> CheckConnect(const ConnectParams& params) const;
  // Picks the local port into `tuple`.
  Result<void> ChoosePort(std::uint16_t wanted, FlowTuple* tuple, TimePoint now);
  bool ClaimPort(std::uint16_t port);
  void ReleasePort(std::uint16_t port);
  Result<ConnEntry*> NewConnection(const ConnectionInit& init);

  // Returns the connection that took the packet; the caller refreshes it once it turns to another.
  ConnEntry* ReceivePacket(const Inbound& in, const PseudoHeader* checksum, ConnEntry* previous);
  void ReceiveWithoutConnection(const Inbound& in, const PacketView& packet,
                                const FlowTuple& tuple);
  void ReceiveRequest(const Inbound& in, const PacketView& packet, const FlowTuple& tuple);
  void Accept(const Inbound& in, const PacketView& packet, const FlowTuple& tuple,
              const ListenerTable::Match& match);
  // In the backlog, for one more.
  void MakeRoom(Listener& listener, TimePoint now);
  ConnectionInit ServerInit(const Listener& listener, const FlowTuple& tuple, ServiceCode code,
                            SeqNo iss) const;
  void Refuse(const Inbound& in, const PacketView& packet, ResetCode code, DropReason reason);
  void TraceReceived(const Inbound& in, ConnId conn) const;
  void Drop(const Inbound& in, DropReason reason);

  SeqNo ServerIss(const Listener& listener, const FlowTuple& tuple, TimePoint now) const;
  // False: such a Request can only be answered with state.
  bool AnswerWithCookie(const Inbound& in, const PacketView& packet, const FlowTuple& tuple,
                        Listener& listener);
  bool AddCookie(const InitCookie& cookie, const FlowTuple& tuple, TimePoint now,
                 OptionWriter& options);
  void SendCookieResponse(const Inbound& in, const InitCookie& cookie, const FlowTuple& tuple,
                          std::span<const std::byte> options);
  // False: the packet has no cookie that concerns a listener.
  bool ReceiveCookie(const Inbound& in, const PacketView& packet, const FlowTuple& tuple);
  // Spans of the result point into `text`. Empty: tampered with, or too old.
  std::optional<InitCookie> OpenCookie(std::span<const std::byte> sealed, const FlowTuple& tuple,
                                       TimePoint now, std::span<std::byte> text);
  bool AcceptCookie(const Inbound& in, const PacketView& packet, const FlowTuple& tuple,
                    const ListenerTable::Match& match, const InitCookie& cookie);
  // The latest time up to `now` with that Timestamp value.
  static TimePoint TimeOf(TenMicros timestamp, TimePoint now);

  void Refresh(ConnEntry& entry, TimePoint now);
  void TakeHalfOpenEvents(ConnEntry& entry);
  // The connection reached CLOSED or TIMEWAIT.
  void EndLife(ConnEntry& entry, State state, TimePoint now);
  void LeaveHalfOpen(ConnEntry& entry);
  void Destroy(ConnEntry& entry);
  // Destroys one that nobody knows yet.
  void Discard(ConnEntry& entry);
  bool FillRing(TimePoint now);
  OutboundDatagram HandOut(TxRing& ring);

  EndpointConfig config_;
  EndpointCounters counters_;
  Slab slab_;  // before everything that holds cells
  TxRing ring_{kRingPackets};
  Refuser refuser_;
  std::vector<Cell*> handed_out_;  // freed at the next Transmit
  ListenerTable listeners_;
  Demux demux_;
  TimeWaitTable time_wait_;
  IsnGenerator isn_;
  PortAllocator ports_;
  DeadlineHeap deadlines_;
  ReadyList<&ConnEntry::event_link> events_;
  ReadyList<&ConnEntry::transmit_link> transmit_;
  std::uint32_t active_ = 0;  // connections that are not over
  TimePoint last_now_;        // the driver's latest
  SlotMap<ConnEntry, ConnId> conns_;
};

}  // namespace dccp
