// One direction of a network path: what becomes of each packet, and when it arrives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/base/ring.h"
#include "stack/sim/red_queue.h"
#include "stack/sim/seeded_random.h"

namespace dccp {

// Loss in bursts: a chain with a good and a bad state that moves before each packet.
struct GilbertElliottConfig {
  double good_to_bad = 0;
  double bad_to_good = 1;
  double loss_good = 0;
  double loss_bad = 1;
};

// Everything is off by default: a path of infinite rate without delay or loss. Probabilities are
// 0 to 1. Sizes are those of IP packets.
struct PathConfig {
  Duration delay = Duration::zero();
  Duration jitter = Duration::zero();  // added to the delay, uniform in [0, jitter]
  bool jitter_keeps_order = true;      // jitter alone never lets a packet overtake another
  std::uint64_t rate_bps = 0;          // bits per second; 0: infinite, then no queue forms
  std::uint64_t queue_bytes = 0;       // limits of the queue, the packet in service included;
  std::uint64_t queue_packets = 0;     // 0: none
  std::optional<RedConfig> red = {};
  double loss = 0;  // independent, behind the queue
  std::optional<GilbertElliottConfig> burst_loss = {};
  double reorder = 0;                         // share of packets that others may overtake...
  Duration reorder_delay = Duration::zero();  // ...because they arrive so much later
  double duplicate = 0;
  double corrupt = 0;           // one bit is flipped
  double ecn_mark = 0;          // of the ECN-capable packets; others pass
  std::uint32_t mtu_bytes = 0;  // 0: no limit
};

// What becomes of one packet. Arrival times are not ordered between packets.
struct PathVerdict {
  enum class Fate : std::uint8_t { kDelivered, kLost, kQueueFull, kRedDropped, kTooBig };

  Fate fate = Fate::kDelivered;
  std::uint8_t copies = 0;  // 1 or 2 with kDelivered, else 0
  bool corrupt = false;
  bool reordered = false;  // the first copy was held back so that others may overtake it
  Ecn ecn = Ecn::kNotEct;  // as it arrives
  std::array<TimePoint, 2> arrival = {};
  std::uint64_t corrupt_bit = 0;  // random; the bit to flip is this modulo the packet's bits
};

const char* ToString(PathVerdict::Fate fate);

// A packet passes, in this order: the MTU, RED, the queue limits, the transmitter at its rate, ECN
// marking, loss, corruption, then delay, jitter, reordering and duplication. It holds no packets:
// it only says when they arrive, so that it serves a simulation as well as an emulator of a real
// path. Offers come with times that never run backwards.
class PathModel {
 public:
  PathModel(const PathConfig& config, std::uint64_t seed);

  // `may_fragment`: the MTU does not apply.
  PathVerdict Offer(std::size_t packet_bytes, Ecn ecn, TimePoint now, bool may_fragment = false);

  // Takes effect with the next packet; what is in the queue leaves at the rate it met.
  void Reconfigure(const PathConfig& config);
  const PathConfig& config() const { return config_; }

  // Of the queue, the packet in service included.
  std::uint64_t queued_packets(TimePoint now);
  std::uint64_t queued_bytes(TimePoint now);

 private:
  struct Departure {
    TimePoint at;
    std::uint64_t bytes = 0;
  };

  Duration ServiceTime(std::size_t bytes) const;
  void Depart(TimePoint now);
  // RED and the limits; kDelivered: the packet has joined the queue.
  PathVerdict::Fate Enqueue(std::size_t bytes, Ecn* ecn, TimePoint now);
  bool LosesPacket();
  TimePoint Arrival(TimePoint departure, bool* reordered);

  PathConfig config_;
  SeededRandom random_;
  std::optional<RedQueue> red_;
  bool bad_state_ = false;
  GrowingRing<Departure> queue_;
  std::uint64_t queue_bytes_ = 0;
  TimePoint idle_since_ = TimePoint::min();  // when the transmitter is or will be idle
  TimePoint last_arrival_ = TimePoint::min();
};

}  // namespace dccp
