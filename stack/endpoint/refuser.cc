#include "stack/endpoint/refuser.h"

#include <algorithm>
#include <span>

#include "stack/conn/stateless_reset.h"

namespace dccp {

Refuser::Refuser(Slab& slab, Encapsulation encapsulation, std::uint32_t per_second,
                 TraceSink* trace)
    : slab_(slab), trace_(trace), encapsulation_(encapsulation) {
  constexpr std::uint32_t kBurstShare = 8;  // of a second's allowance at one moment
  if (per_second > 0)
    limit_.emplace(per_second, std::chrono::seconds(1), std::max(per_second / kBurstShare, 1u));
}

Refuser::Outcome Refuser::Refuse(const PacketView& packet, const Path& path,
                                 const ResetReason& reason, TimePoint now) {
  if (packet.type() == PacketType::kReset) return Outcome::kNotAnswered;
  if (queue_.Full()) return Outcome::kNoBuffers;
  if (!Admit(now)) return Outcome::kRateLimited;
  Cell* cell = slab_.Allocate(kStatelessResetBytes);
  if (cell == nullptr) return Outcome::kNoBuffers;
  cell->length = kStatelessResetBytes;
  WriteStatelessReset(packet, reason, path, encapsulation_,
                      cell->bytes().first<kStatelessResetBytes>());
  queue_.Push({cell, path, Ecn::kNotEct, false});
  if (trace_ != nullptr) {
    trace_->OnPacket(
        {ConnId(), Direction::kSent, now, path, encapsulation_, cell->bytes(), Ecn::kNotEct});
  }
  return Outcome::kQueued;
}

}  // namespace dccp
