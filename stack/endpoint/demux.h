// From a packet's tuple to a connection.
#pragma once

#include <cstdint>
#include <vector>

#include "dccp/types.h"
#include "stack/base/flat_map.h"
#include "stack/base/siphash.h"

namespace dccp {

// The table of flows: full tuple -> slot of a connection. Two flows that differ in any part of the
// tuple are two connections. The last flow found is remembered, so that a run of packets of one
// flow costs one hash. RFC 4340 §8.5 step 2, RFC 6773 §3.8 (many connections per UDP 4-tuple)
class Demux {
 public:
  static constexpr std::uint32_t kNone = FlatMap::kNone;

  explicit Demux(const SipKey& key) : key_(key) {}

  // False, and nothing changed, when the tuple is taken. A slot holds one tuple at a time.
  bool Insert(const FlowTuple& tuple, std::uint32_t slot);
  // Frees the slot's tuple; nothing happens when it holds none.
  void Erase(std::uint32_t slot);
  // kNone when no connection has the tuple.
  std::uint32_t Find(const FlowTuple& tuple);

  std::size_t size() const { return map_.size(); }

 private:
  struct Flow {
    FlowTuple tuple;
    std::uint64_t hash = 0;
    bool used = false;
  };

  std::uint32_t FindHashed(const FlowTuple& tuple, std::uint64_t hash) const;

  SipKey key_;
  FlatMap map_;
  std::vector<Flow> flows_;  // by slot
  std::uint32_t last_ = kNone;
};

}  // namespace dccp
