#include <algorithm>

#include "stack/base/check.h"
#include "stack/endpoint/endpoint_impl.h"

namespace dccp {

void Endpoint::Impl::Refresh(ConnEntry& entry, TimePoint now) {
  Connection& conn = *entry.conn;
  if (entry.half_open) {
    TakeHalfOpenEvents(entry);
  } else if (!entry.released && conn.HasEvents()) {
    events_.Add(entry);
  }
  const State state = conn.state();
  const bool over = state == State::kClosed || state == State::kTimeWait;
  if (over && !entry.over) EndLife(entry, state, now);
  const bool wants_transmit = conn.WantsTransmit(now);
  if (over && !wants_transmit && (entry.released || entry.half_open)) {
    Destroy(entry);
    return;
  }
  if (wants_transmit) {
    transmit_.Add(entry);
  } else {
    transmit_.Remove(entry);
  }
  deadlines_.Set(entry.id.index, over ? kNever : conn.NextTimeout());
}

// Nobody knows a half-open connection yet, so its events wait; the one that opens it makes it
// known, and one that dies before leaves no trace.
void Endpoint::Impl::TakeHalfOpenEvents(ConnEntry& entry) {
  entry.event_bits |= entry.conn->TakeEvents();
  if ((entry.event_bits & kEventConnected) == 0) return;
  entry.event_bits = (entry.event_bits & ~std::uint32_t{kEventConnected}) | kEventAccepted;
  LeaveHalfOpen(entry);
  ++counters_.connections_accepted;
  events_.Add(entry);
}

void Endpoint::Impl::LeaveHalfOpen(ConnEntry& entry) {
  if (!entry.half_open) return;
  Listener* const listener = listeners_.Find(entry.listener);
  DCCP_CHECK(listener != nullptr);
  listener->half_open.Remove(entry);
}

void Endpoint::Impl::EndLife(ConnEntry& entry, State state, TimePoint now) {
  entry.over = true;
  --active_;
  demux_.Erase(entry.id.index);
  // A cookie that could still be played back would begin the connection once more.
  if (state == State::kTimeWait || now < entry.cookie_until) time_wait_.Add(entry.tuple, now);
}

void Endpoint::Impl::Destroy(ConnEntry& entry) {
  LeaveHalfOpen(entry);
  if (entry.port_claimed) ReleasePort(entry.tuple.local_port);
  events_.Remove(entry);
  transmit_.Remove(entry);
  deadlines_.Remove(entry.id.index);
  demux_.Erase(entry.id.index);
  DCCP_CHECK(conns_.Erase(entry.id));
}

void Endpoint::Impl::Discard(ConnEntry& entry) {
  if (!entry.over) --active_;
  Destroy(entry);
}

void Endpoint::Impl::HandleTimeout(TimePoint now) {
  last_now_ = now;
  time_wait_.Expire(now);
  while (const std::optional<std::uint32_t> index = deadlines_.PopExpired(now)) {
    ConnEntry& entry = *conns_.AtIndex(*index);
    entry.conn->HandleTimeout(now);
    Refresh(entry, now);
    // A paced connection keeps a deadline in the past until it transmits. Do not spin on it.
    if (deadlines_.Get(*index) <= now) deadlines_.Set(*index, now + Duration(1));
  }
}

std::optional<Event> Endpoint::Impl::PollEvent() {
  while (ConnEntry* entry = events_.Pop()) {
    std::uint32_t bits = entry->event_bits | entry->conn->TakeEvents();
    entry->event_bits = 0;
    if (bits == 0) continue;
    Event event;
    event.conn = entry->id;
    event.bits = bits;
    if ((bits & kEventAccepted) != 0) event.listener = entry->listener;
    return event;
  }
  return std::nullopt;
}

std::size_t Endpoint::Impl::Transmit(std::span<OutboundDatagram> out, TimePoint now) {
  last_now_ = now;
  for (Cell* cell : handed_out_) slab_.Free(cell);
  handed_out_.clear();
  std::size_t n = 0;
  while (n < out.size()) {
    // What connections have built goes first: the Reset that ends one must not be overtaken by the
    // refusal of a packet that came after it.
    if (!ring_.empty()) {
      out[n++] = HandOut(ring_);
    } else if (!refuser_.queue().empty()) {
      out[n++] = HandOut(refuser_.queue());
    } else if (FillRing(now)) {
      out[n++] = HandOut(ring_);
    } else {
      break;
    }
  }
  counters_.packets_sent += n;
  return n;
}

OutboundDatagram Endpoint::Impl::HandOut(TxRing& ring) {
  const TxPacket& packet = ring.Front();
  const OutboundDatagram datagram = {packet.cell->bytes(), packet.path, packet.ecn,
                                     packet.may_fragment};
  handed_out_.push_back(packet.cell);
  ring.Pop();
  return datagram;
}

// Gives the connection at the front its turn. False when none has anything to send now.
bool Endpoint::Impl::FillRing(TimePoint now) {
  for (std::size_t turns = transmit_.size(); turns > 0; --turns) {
    ConnEntry* entry = transmit_.Pop();
    if (entry == nullptr) return false;
    entry->conn->Transmit(now, kQuantumPackets);
    Refresh(*entry, now);
    if (!ring_.empty()) return true;
  }
  return false;
}

bool Endpoint::Impl::WantsTransmit(TimePoint now) const {
  if (!ring_.empty() || !refuser_.queue().empty()) return true;
  for (const ConnEntry* entry = transmit_.front(); entry != nullptr;
       entry = transmit_.Next(*entry)) {
    if (entry->conn->WantsTransmit(now)) return true;
  }
  return false;
}

}  // namespace dccp
