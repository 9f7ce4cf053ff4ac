#include <algorithm>
#include <optional>

#include "stack/endpoint/endpoint_impl.h"
#include "stack/wire/icmp_quote.h"
#include "stack/wire/packet_view.h"

namespace dccp {

namespace {

DropReason DropReasonOf(ParseError error, Encapsulation encapsulation) {
  switch (error) {
    case ParseError::kTooShort:
      // Fewer than 12 bytes are a UDP Length below 20. RFC 6773 §3.3
      return encapsulation == Encapsulation::kUdp ? DropReason::kUdpLength : DropReason::kTooShort;
    case ParseError::kUnknownType:
      return DropReason::kUnknownType;
    case ParseError::kBadDataOffset:
      return DropReason::kBadDataOffset;
    case ParseError::kShortSeqnoNotAllowed:
      return DropReason::kShortSeqnoNotAllowedForType;
    case ParseError::kBadChecksumCoverage:
      return DropReason::kBadChecksumCoverage;
    case ParseError::kNone:
      break;
  }
  DCCP_UNREACHABLE();
}

// Addresses that no single peer can have, or that are not ours alone: an answer to such a packet
// could be multiplied. A local address may be unspecified where the driver does not know it.
bool IsMartian(const Path& path, Encapsulation encapsulation) {
  if (path.remote.IsUnspecified() || path.remote.IsMulticastOrBroadcast()) return true;
  if (path.local.IsMulticastOrBroadcast()) return true;
  return encapsulation == Encapsulation::kUdp && path.remote_udp_port == 0;
}

}  // namespace

void Endpoint::Impl::Receive(std::span<const InboundDatagram> batch, TimePoint now) {
  last_now_ = now;
  ConnEntry* current = nullptr;
  for (const InboundDatagram& datagram : batch) {
    std::optional<PseudoHeader> checksum;
    if (config_.encapsulation == Encapsulation::kNative)
      checksum.emplace(datagram.path.remote, datagram.path.local);
    const PseudoHeader* const sum = checksum ? &*checksum : nullptr;
    std::span<const std::byte> rest = datagram.bytes;
    const std::size_t step = datagram.segment_bytes == 0 ? rest.size() : datagram.segment_bytes;
    do {
      const std::size_t n = std::min(step, rest.size());
      current = ReceivePacket({rest.first(n), datagram.path, datagram.ecn, now}, sum, current);
      rest = rest.subspan(n);
    } while (!rest.empty());
  }
  if (current != nullptr) Refresh(*current, now);
}

ConnEntry* Endpoint::Impl::ReceivePacket(const Inbound& in, const PseudoHeader* checksum,
                                         ConnEntry* previous) {
  ++counters_.packets_received;
  PacketView packet;
  const ParseError error = PacketView::Parse(in.bytes, &packet);
  if (error != ParseError::kNone) {
    TraceReceived(in, ConnId());
    Drop(in, DropReasonOf(error, config_.encapsulation));
    return previous;
  }
  if (checksum != nullptr && !checksum->Verify(packet)) {
    TraceReceived(in, ConnId());
    Drop(in, DropReason::kBadChecksum);
    return previous;
  }
  const FlowTuple tuple = {in.path, packet.destination_port(), packet.source_port()};
  if (tuple.local_port == 0 || tuple.remote_port == 0 ||
      IsMartian(in.path, config_.encapsulation)) {
    TraceReceived(in, ConnId());
    Drop(in, DropReason::kMartian);
    return previous;
  }
  const std::uint32_t slot = demux_.Find(tuple);
  ConnEntry* const entry = slot == Demux::kNone ? nullptr : conns_.AtIndex(slot);
  if (previous != nullptr && previous != entry) Refresh(*previous, in.now);
  if (entry == nullptr) {
    ReceiveWithoutConnection(in, packet, tuple);
    return nullptr;
  }
  TraceReceived(in, entry->id);
  entry->conn->OnPacket(packet, in.ecn, in.now);
  const State state = entry->conn->state();
  if (state != State::kClosed && state != State::kTimeWait) return entry;
  // The next packet of this run may already be one for step 2.
  Refresh(*entry, in.now);
  return nullptr;
}

void Endpoint::Impl::ReceiveWithoutConnection(const Inbound& in, const PacketView& packet,
                                              const FlowTuple& tuple) {
  if (packet.type() == PacketType::kRequest && !time_wait_.Contains(tuple, in.now)) {
    ReceiveRequest(in, packet, tuple);
  } else if (time_wait_.Contains(tuple, in.now) || !ReceiveCookie(in, packet, tuple)) {
    Refuse(in, packet, ResetCode::kNoConnection, DropReason::kNoConnection);
  }
}

void Endpoint::Impl::ReceiveRequest(const Inbound& in, const PacketView& packet,
                                    const FlowTuple& tuple) {
  const ListenerTable::Match match =
      listeners_.Lookup(tuple.local_port, in.path.local, packet.service_code());
  switch (match.verdict) {
    case ListenerTable::Verdict::kNoPort:
      ++counters_.connections_refused;
      Refuse(in, packet, ResetCode::kConnectionRefused, DropReason::kNoConnection);
      return;
    case ListenerTable::Verdict::kBadServiceCode:
      ++counters_.connections_refused;
      Refuse(in, packet, ResetCode::kBadServiceCode, DropReason::kNoConnection);
      return;
    case ListenerTable::Verdict::kAccept:
      Accept(in, packet, tuple, match);
      return;
  }
  DCCP_UNREACHABLE();
}

void Endpoint::Impl::Accept(const Inbound& in, const PacketView& packet, const FlowTuple& tuple,
                            const ListenerTable::Match& match) {
  const auto too_busy = [&] {
    ++counters_.connections_refused;
    Refuse(in, packet, ResetCode::kTooBusy, DropReason::kTooManyConnections);
  };
  Listener& listener = *match.listener;
  time_wait_.Expire(in.now);
  if (AtCapacity()) return too_busy();
  if (config_.cookie_sealer != nullptr && listener.half_open.size() >= listener.cookies_above() &&
      AnswerWithCookie(in, packet, tuple, listener))
    return;
  if (listener.params.backlog == 0) return too_busy();
  const Result<ConnEntry*> made = NewConnection(
      ServerInit(listener, tuple, packet.service_code(), ServerIss(listener, tuple, in.now)));
  if (!made.ok()) return too_busy();
  ConnEntry& entry = **made;
  entry.listener = match.id;
  TraceReceived(in, entry.id);
  const auto fault = entry.conn->StartServer(packet, in.ecn, in.now);
  // Nobody goes for a Request that is refused.
  if (!fault) MakeRoom(listener, in.now);
  listener.half_open.Add(entry, in.now);
  if (fault) {
    ++counters_.connections_refused;
    // One of the answers that a flood of Requests can draw.
    const bool answer = refuser_.Admit(in.now);
    Drop(in, answer ? DropReason::kOptionError : DropReason::kRateLimited);
    if (!answer) {
      EndLife(entry, State::kClosed, in.now);
      Destroy(entry);
      return;
    }
    entry.conn->Refuse(*fault, in.now);
  }
  Refresh(entry, in.now);
}

void Endpoint::Impl::MakeRoom(Listener& listener, TimePoint now) {
  if (listener.half_open.size() < listener.params.backlog) return;
  Discard(*listener.half_open.Victim(now, *config_.random));
  ++counters_.half_open_evicted;
}

ConnectionInit Endpoint::Impl::ServerInit(const Listener& listener, const FlowTuple& tuple,
                                          ServiceCode code, SeqNo iss) const {
  ConnectionInit init;
  init.role = Role::kServer;
  init.tuple = tuple;
  init.service_code = code;
  init.options = listener.params.options;
  init.iss = iss;
  init.mtu_bytes = InitialMtu(tuple.path);
  return init;
}

void Endpoint::Impl::Refuse(const Inbound& in, const PacketView& packet, ResetCode code,
                            DropReason reason) {
  TraceReceived(in, ConnId());
  if (config_.port_arbiter != nullptr &&
      config_.port_arbiter->TakenElsewhere(packet.destination_port())) {
    Drop(in, DropReason::kNotForUs);
    return;
  }
  ResetReason reset;
  reset.code = code;
  switch (refuser_.Refuse(packet, in.path, reset, in.now)) {
    case Refuser::Outcome::kQueued:
      ++counters_.resets_without_connection;
      break;
    case Refuser::Outcome::kRateLimited:
      reason = DropReason::kRateLimited;
      break;
    case Refuser::Outcome::kNoBuffers:
      reason = DropReason::kNoBuffers;
      break;
    case Refuser::Outcome::kNotAnswered:
      break;
  }
  Drop(in, reason);
}

void Endpoint::Impl::TraceReceived(const Inbound& in, ConnId conn) const {
  if (config_.trace == nullptr) return;
  config_.trace->OnPacket(
      {conn, Direction::kReceived, in.now, in.path, config_.encapsulation, in.bytes, in.ecn});
}

void Endpoint::Impl::Drop(const Inbound& in, DropReason reason) {
  CountDrop(reason);
  if (config_.trace != nullptr) {
    config_.trace->OnDrop(
        {ConnId(), reason, in.now, in.path, config_.encapsulation, in.bytes, in.ecn});
  }
}

// A quotation without the DCCP ports names no connection: several may share the UDP ports.
// RFC 6773 §3.6. Whether the quoted sequence number is one of ours is for the connection to judge.
void Endpoint::Impl::OnIcmp(const IcmpError& error, TimePoint now) {
  last_now_ = now;
  const std::optional<IcmpQuote> quote = ParseIcmpQuote(error.quoted);
  if (!quote) return;
  const std::uint32_t slot = demux_.Find({error.path, quote->source_port, quote->destination_port});
  if (slot == Demux::kNone) return;
  ConnEntry& entry = *conns_.AtIndex(slot);
  entry.conn->OnIcmp(error, now);
  Refresh(entry, now);
}

}  // namespace dccp
