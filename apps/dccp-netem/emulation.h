// What relay, bridge and router have in common: two directions and what waits in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/dccp-netem/direction.h"
#include "apps/dccp-netem/event_loop.h"
#include "stack/sim/path_model.h"

namespace dccp::apps::netem {

struct EmulationConfig {
  PathConfig forward;
  PathConfig reverse;
  std::uint64_t seed = 1;
  std::size_t memory_bytes = std::size_t{256} << 20;
};

// Figures that only one kind of emulation has, by name.
using ExtraFigures = std::map<std::string, std::uint64_t>;

class Emulation {
 public:
  virtual ~Emulation() = default;
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  // All that was read meets the model, all that is due leaves. True: there was something.
  bool Work(TimePoint now);
  TimePoint NextDelivery() const { return pending_.next(); }
  // Now and then, about once a second.
  virtual void Housekeeping(TimePoint now) { static_cast<void>(now); }

  const Direction& forward() const { return forward_; }
  const Direction& reverse() const { return reverse_; }
  std::size_t under_way() const { return store_.in_use(); }
  // One line: between what and what.
  virtual std::string Describe() const = 0;
  // Not empty: why it cannot go on.
  virtual std::string failure() const { return ""; }
  // Packets that came too fast to be read.
  virtual std::uint64_t missed() = 0;
  virtual ExtraFigures Extras() = 0;

 protected:
  Emulation(const EmulationConfig& config, PacketOutput& forward_output,
            PacketOutput& reverse_output);

  Direction& forward_direction() { return forward_; }
  Direction& reverse_direction() { return reverse_; }

 private:
  PacketStore store_;
  Pending pending_;
  Direction forward_;
  Direction reverse_;
};

}  // namespace dccp::apps::netem
