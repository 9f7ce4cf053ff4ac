// One direction of an emulated path, in real time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/dccp-netem/delay_histogram.h"
#include "apps/dccp-netem/packet_store.h"
#include "stack/sim/event_queue.h"
#include "stack/sim/path_model.h"

namespace dccp::apps::netem {

// offered + duplicated = what is under way + all the others together.
struct DirectionCounters {
  std::uint64_t offered = 0;
  std::uint64_t offered_bytes = 0;  // of IP packets
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t red_dropped = 0;
  std::uint64_t too_big = 0;
  std::uint64_t no_memory = 0;
  std::uint64_t refused = 0;
  std::uint64_t unresolved = 0;
  std::uint64_t duplicated = 0;  // of these and the following, all count among the above too
  std::uint64_t marked = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t reordered = 0;
};

// Where a direction ends.
class PacketOutput {
 public:
  virtual ~PacketOutput() = default;
  // Sends them, and says of each what became of it.
  virtual void Send(std::span<Packet* const> packets) = 0;
  // A packet did not fit the path's MTU.
  virtual void OnTooBig(const Packet& packet, std::uint32_t mtu_bytes) {
    static_cast<void>(packet);
    static_cast<void>(mtu_bytes);
  }
};

// Takes packets as they arrive, asks the path model what becomes of them, and sends them when they
// are due. The packets of all sources of one round are put in the order of their arrival first, so
// that the model sees them as a real queue would.
class Direction final : public SimActor {
 public:
  // All but the config must outlive it.
  Direction(const PathConfig& config, std::uint64_t seed, PacketStore& store, EventQueue& queue,
            PacketOutput& output);

  // Room for a packet that arrives; null, and counted, where there is none.
  Packet* NewPacket(std::size_t bytes, std::size_t ip_bytes);
  // Ownership passes.
  void Arrive(Packet* packet, TimePoint arrival) {
    inbox_.push_back({arrival, inbox_.size(), packet});
  }
  // Gives back a packet that is none of this path's.
  void Discard(Packet* packet) { store_.Free(packet); }
  // All that arrived since the last call meets the path model.
  void OfferArrived();
  // A packet is due; Flush() sends it.
  void OnSimEvent(std::uint64_t cookie) override;
  void Flush();

  const DirectionCounters& counters() const { return counters_; }
  // Of packets that left: how much later than they were due.
  const DelayHistogram& lateness() const { return lateness_; }
  const PathConfig& config() const { return model_.config(); }

 private:
  struct Arrival {
    TimePoint at;
    std::size_t order;
    Packet* packet;
  };

  void Offer(Packet* packet, TimePoint arrival);
  void Schedule(Packet* packet, TimePoint due);
  void Settle(Packet* packet, TimePoint now);

  PathModel model_;
  PacketStore& store_;
  EventQueue& queue_;
  PacketOutput& output_;
  std::vector<Arrival> inbox_;
  std::vector<Packet*> due_;
  TimePoint last_offer_ = TimePoint::min();
  DirectionCounters counters_;
  DelayHistogram lateness_;
};

// All that waits for its time, in both directions.
class Pending {
 public:
  EventQueue& queue() { return queue_; }
  // Hands out what is due by `now`.
  void Release(TimePoint now);
  TimePoint next() const { return queue_.empty() ? kNever : queue_.top().at; }

 private:
  EventQueue queue_;
};

}  // namespace dccp::apps::netem
