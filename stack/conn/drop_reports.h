// What the peer says it dropped of our data, each packet once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "stack/conn/sent_history.h"

namespace dccp {

// Data Dropped options repeat a packet's state until the peer knows that we have seen it; this
// turns them into news. A report about a packet that we never sent, or that is not acknowledged as
// received, contradicts the rest of the packet and is ignored, as is a change of an earlier report.
// Remembers at most kMaxRuns runs: then the oldest go. RFC 4340 §11.7
class DropReports {
 public:
  static constexpr std::size_t kMaxRuns = 1024;

  // `options` are the Data Dropped options of a packet that acknowledges `ackno`, in order, after
  // `history` has digested its Ack Vectors. Newest first; valid until the next call.
  std::span<const DataDroppedRun> Digest(std::span<const std::span<const std::byte>> options,
                                         Seq64 ackno, const SentHistory& history);

 private:
  struct Seen {
    Seq64 first;
    Seq64 last;
  };
  void Report(Seq64 first, Seq64 last, DropCode code, const SentHistory& history);
  bool WasSeen(Seq64 seq) const;
  void Remember(Seq64 seq);

  std::vector<Seen> seen_;  // ascending, disjoint
  std::vector<DataDroppedRun> news_;
};

}  // namespace dccp
