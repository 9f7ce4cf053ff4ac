#include "stack/endpoint/demux.h"

#include "stack/base/check.h"
#include "stack/endpoint/flow_hash.h"

namespace dccp {

bool Demux::Insert(const FlowTuple& tuple, std::uint32_t slot) {
  const std::uint64_t hash = HashFlow(key_, tuple);
  if (FindHashed(tuple, hash) != kNone) return false;
  if (slot >= flows_.size()) flows_.resize(std::size_t{slot} + 1);
  DCCP_CHECK(!flows_[slot].used);
  flows_[slot] = {tuple, hash, true};
  map_.Insert(hash, slot);
  return true;
}

void Demux::Erase(std::uint32_t slot) {
  if (slot >= flows_.size() || !flows_[slot].used) return;
  flows_[slot].used = false;
  if (last_ == slot) last_ = kNone;
  DCCP_CHECK(map_.Erase(flows_[slot].hash, slot));
}

std::uint32_t Demux::Find(const FlowTuple& tuple) {
  if (last_ != kNone && flows_[last_].tuple == tuple) return last_;
  const std::uint32_t slot = FindHashed(tuple, HashFlow(key_, tuple));
  if (slot != kNone) last_ = slot;
  return slot;
}

std::uint32_t Demux::FindHashed(const FlowTuple& tuple, std::uint64_t hash) const {
  return map_.Find(hash, [&](std::uint32_t slot) { return flows_[slot].tuple == tuple; });
}

}  // namespace dccp
