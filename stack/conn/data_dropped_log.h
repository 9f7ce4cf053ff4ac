// What the receiver must report in Data Dropped options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/option_writer.h"
#include "dccp/seqno.h"

namespace dccp {

// Data that arrived and that this endpoint dropped (or delivered corrupt), to be reported over the
// whole Acknowledgement Window until the peer has seen it. RFC 4340 §11.7
//
// Holds runs of equal Drop Code; everything between them is Normal. A drop must be recorded before
// the packet is first reported as received, for its status must not change. At most kMaxRuns runs:
// then the oldest go.
class DataDroppedLog {
 public:
  static constexpr std::size_t kMaxRuns = 1024;

  // False: that packet has a record already, which stays.
  bool Record(Seq64 seq, DropCode code);
  // Writes Data Dropped options for a packet that acknowledges `ackno` and whose Acknowledgement
  // Window begins at `window_start`; nothing where all is Normal. What does not fit is left out at
  // the old end. Returns the bytes written.
  std::size_t Write(OptionWriter& out, Seq64 ackno, Seq64 window_start) const;
  // Bytes that Write needs for everything.
  std::size_t EncodedBytes(Seq64 ackno, Seq64 window_start) const;
  // Forgets what lies before `seq`: AckVectorBuffer::oldest() after an ack of acks.
  void ForgetBefore(Seq64 seq);

  bool empty() const { return runs_.size() == first_; }
  std::size_t runs() const { return runs_.size() - first_; }

 private:
  struct Run {
    Seq64 first;
    std::int64_t length;
    DropCode code;
    Seq64 last() const { return first + (length - 1); }
  };
  template <typename Emit>
  void ForEachBlockRun(Seq64 ackno, Seq64 window_start, Emit emit) const;
  void DropFront();

  std::vector<Run> runs_;  // oldest first, from index first_
  std::size_t first_ = 0;
};

}  // namespace dccp
