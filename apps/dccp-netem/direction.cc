#include "apps/dccp-netem/direction.h"

#include <algorithm>

#include "stack/io/monotonic_clock.h"

namespace dccp::apps::netem {

namespace {

// As many as one sendmmsg takes.
constexpr std::size_t kBatch = 64;
// How often, and how long in all, an unknown next hop is waited for.
constexpr Duration kRetry = std::chrono::milliseconds(1);
constexpr std::uint16_t kMaxTries = 1000;

void FlipBit(std::uint64_t random, Packet* packet) {
  const std::size_t body = packet->length - std::min(packet->length, packet->body_offset);
  if (body == 0) return;
  const std::uint64_t bit = random % (body * 8);
  packet->data()[packet->body_offset + bit / 8] ^= std::byte{1} << (bit % 8);
}

}  // namespace

Direction::Direction(const PathConfig& config, std::uint64_t seed, PacketStore& store,
                     EventQueue& queue, PacketOutput& output)
    : model_(config, seed), store_(store), queue_(queue), output_(output) {
  due_.reserve(kBatch);
}

Packet* Direction::NewPacket(std::size_t bytes, std::size_t ip_bytes) {
  Packet* const packet = store_.New(bytes);
  if (packet == nullptr) {
    ++counters_.offered;
    counters_.offered_bytes += ip_bytes;
    ++counters_.no_memory;
    return nullptr;
  }
  packet->ip_bytes = static_cast<std::uint32_t>(ip_bytes);
  return packet;
}

void Direction::OfferArrived() {
  if (inbox_.empty()) return;
  const auto earlier = [](const Arrival& a, const Arrival& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  };
  if (!std::is_sorted(inbox_.begin(), inbox_.end(), earlier))
    std::sort(inbox_.begin(), inbox_.end(), earlier);
  for (const Arrival& arrival : inbox_) Offer(arrival.packet, arrival.at);
  inbox_.clear();
}

void Direction::Offer(Packet* packet, TimePoint arrival) {
  last_offer_ = Later(last_offer_, arrival);
  ++counters_.offered;
  counters_.offered_bytes += packet->ip_bytes;
  const PathVerdict verdict =
      model_.Offer(packet->ip_bytes, packet->ecn, last_offer_, packet->may_fragment);
  switch (verdict.fate) {
    case PathVerdict::Fate::kDelivered:
      break;
    case PathVerdict::Fate::kLost:
      ++counters_.lost;
      break;
    case PathVerdict::Fate::kQueueFull:
      ++counters_.queue_full;
      break;
    case PathVerdict::Fate::kRedDropped:
      ++counters_.red_dropped;
      break;
    case PathVerdict::Fate::kTooBig:
      ++counters_.too_big;
      output_.OnTooBig(*packet, model_.config().mtu_bytes);
      break;
  }
  if (verdict.copies == 0) {
    store_.Free(packet);
    return;
  }
  if (verdict.ecn == Ecn::kCe && packet->ecn != Ecn::kCe) ++counters_.marked;
  packet->ecn = verdict.ecn;
  if (verdict.corrupt) {
    ++counters_.corrupted;
    FlipBit(verdict.corrupt_bit, packet);
  }
  counters_.reordered += verdict.reordered ? 1 : 0;
  if (verdict.copies == 2) {
    ++counters_.duplicated;
    if (Packet* const copy = store_.Copy(*packet)) {
      Schedule(copy, verdict.arrival[1]);
    } else {
      ++counters_.no_memory;
    }
  }
  Schedule(packet, verdict.arrival[0]);
}

void Direction::Schedule(Packet* packet, TimePoint due) {
  packet->due = due;
  queue_.Push(due, this, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(packet)));
}

void Direction::OnSimEvent(std::uint64_t cookie) {
  due_.push_back(reinterpret_cast<Packet*>(static_cast<std::uintptr_t>(cookie)));
  if (due_.size() == kBatch) Flush();
}

void Direction::Flush() {
  if (due_.empty()) return;
  output_.Send(due_);
  const TimePoint now = MonotonicClock::Now();
  for (Packet* packet : due_) Settle(packet, now);
  due_.clear();
}

void Direction::Settle(Packet* packet, TimePoint now) {
  switch (packet->outcome) {
    case Outcome::kSent:
      ++counters_.delivered;
      counters_.delivered_bytes += packet->ip_bytes;
      // A packet that waited for its next hop says nothing about the clock.
      if (packet->tries == 0) lateness_.Add(now - packet->due);
      break;
    case Outcome::kRefused:
      ++counters_.refused;
      break;
    case Outcome::kTryAgain:
      if (++packet->tries < kMaxTries) {
        queue_.Push(now + kRetry, this,
                    static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(packet)));
        return;
      }
      ++counters_.unresolved;
      break;
    case Outcome::kUnresolved:
      ++counters_.unresolved;
      break;
  }
  store_.Free(packet);
}

void Pending::Release(TimePoint now) {
  while (!queue_.empty() && queue_.top().at <= now) {
    const EventQueue::Event event = queue_.Pop();
    event.actor->OnSimEvent(event.cookie);
  }
}

}  // namespace dccp::apps::netem
