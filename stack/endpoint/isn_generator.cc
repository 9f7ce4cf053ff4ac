#include "stack/endpoint/isn_generator.h"

#include <cstdint>

#include "stack/endpoint/flow_hash.h"

namespace dccp {

SeqNo IsnGenerator::Generate(const FlowTuple& tuple, TimePoint now) const {
  constexpr unsigned kTickShift = 8;
  const auto ticks = static_cast<std::uint64_t>(now.time_since_epoch().count()) >> kTickShift;
  return SeqNo(ticks + HashFlow(key_, tuple));
}

}  // namespace dccp
