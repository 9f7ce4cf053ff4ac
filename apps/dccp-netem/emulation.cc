#include "apps/dccp-netem/emulation.h"

#include "stack/sim/seeded_random.h"

namespace dccp::apps::netem {

namespace {

// The directions' numbers must not be related, though one seed gives both.
std::uint64_t ReverseSeed(std::uint64_t seed) { return SeededRandom(seed).Next(); }

}  // namespace

Emulation::Emulation(const EmulationConfig& config, PacketOutput& forward_output,
                     PacketOutput& reverse_output)
    : store_(config.memory_bytes),
      forward_(config.forward, config.seed, store_, pending_.queue(), forward_output),
      reverse_(config.reverse, ReverseSeed(config.seed), store_, pending_.queue(), reverse_output) {
}

bool Emulation::Work(TimePoint now) {
  const std::size_t before = store_.in_use();
  forward_.OfferArrived();
  reverse_.OfferArrived();
  pending_.Release(now);
  forward_.Flush();
  reverse_.Flush();
  return before != 0;
}

}  // namespace dccp::apps::netem
