// Answers packets that belong to no connection.
#pragma once

#include <cstdint>
#include <optional>

#include "dccp/trace.h"
#include "dccp/types.h"
#include "stack/base/rate_limit.h"
#include "stack/base/slab.h"
#include "stack/conn/tx_ring.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// Builds and queues Resets in the name of CLOSED, LISTEN and TIMEWAIT. A Reset is never answered,
// and all answers together stay below a rate, so that a flood of stray packets costs little and is
// not reflected in full. Takes cells from `slab`, which must outlive it. RFC 4340 §8.1.3, §8.3.1
class Refuser {
 public:
  enum class Outcome : std::uint8_t { kQueued, kNotAnswered, kRateLimited, kNoBuffers };

  // `per_second` 0: never answers.
  Refuser(Slab& slab, Encapsulation encapsulation, std::uint32_t per_second, TraceSink* trace);

  Outcome Refuse(const PacketView& packet, const Path& path, const ResetReason& reason,
                 TimePoint now);

  // Whether a refusal that somebody else sends is within the rate, of which it then takes its part.
  bool Admit(TimePoint now) { return limit_ && limit_->Take(now); }

  // Packets to send; who pops one owns its cell.
  TxRing& queue() { return queue_; }
  const TxRing& queue() const { return queue_; }

 private:
  static constexpr std::size_t kQueuePackets = 256;

  Slab& slab_;
  TraceSink* trace_;
  Encapsulation encapsulation_;
  std::optional<TokenBucket> limit_;
  TxRing queue_{kQueuePackets};
};

}  // namespace dccp
