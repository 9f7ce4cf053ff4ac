#include "ccid/common/pacer.h"

#include <algorithm>
#include <limits>

namespace dccp {

Pacer::Release Pacer::Ask(TimePoint now, Duration interval) const {
  if (interval <= Duration::zero()) return {std::numeric_limits<std::uint32_t>::max(), kNever};
  const std::int64_t quantum = QuantumPackets(interval);
  const TimePoint whole = next_ + (quantum - 1) * interval;
  if (now < next_ || (now < whole && !in_quantum_)) return {0, whole};
  const std::int64_t earned = std::min((now - Clip(now, interval)) / interval + 1, quantum);
  return {static_cast<std::uint32_t>(earned), kNever};
}

void Pacer::OnSent(std::uint32_t packets, TimePoint now, Duration interval) {
  if (interval <= Duration::zero()) return;
  next_ = Clip(now, interval) + std::int64_t{packets} * interval;
  in_quantum_ = next_ <= now;
}

std::int64_t Pacer::QuantumPackets(Duration interval) {
  return std::clamp<std::int64_t>(kQuantum / interval, 1, kMaxQuantumPackets);
}

TimePoint Pacer::Clip(TimePoint now, Duration interval) const {
  return Later(next_, now - (QuantumPackets(interval) - 1) * interval);
}

}  // namespace dccp
