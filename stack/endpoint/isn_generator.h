// Initial sequence numbers.
#pragma once

#include "dccp/seqno.h"
#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/base/siphash.h"

namespace dccp {

// ISN = clock + keyed hash of the tuple, as RFC 6528 does it for TCP: each tuple has a number space
// of its own that a stranger cannot guess, and in one space the numbers advance, so those of a
// later connection do not overlap those of an earlier one. The clock ticks every 256 ns rather than
// 4 us: with 48 bits it still takes two years to come round, and it stays ahead of a connection
// that sends 3.9 million packets a second. Deviation: its low 24 bits
// alone come round in 4 s, where §7.2 wants them not to overlap either once short numbers are used
// (off by default); TIMEWAIT keeps the tuple away for 2 MSL instead. RFC 4340 §7.2
class IsnGenerator {
 public:
  explicit IsnGenerator(const SipKey& key) : key_(key) {}

  SeqNo Generate(const FlowTuple& tuple, TimePoint now) const;

 private:
  SipKey key_;
};

}  // namespace dccp
