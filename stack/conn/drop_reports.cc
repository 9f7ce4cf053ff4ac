#include "stack/conn/drop_reports.h"

#include <algorithm>

#include "stack/wire/data_dropped_codec.h"

namespace dccp {

std::span<const DataDroppedRun> DropReports::Digest(
    std::span<const std::span<const std::byte>> options, Seq64 ackno, const SentHistory& history) {
  news_.clear();
  Seq64 at = ackno;
  for (const std::span<const std::byte> data : options) {
    DataDroppedReader reader(data);
    DataDroppedBlock block;
    while (reader.Next(&block)) {
      const Seq64 first = at - (static_cast<std::int64_t>(block.packets) - 1);
      if (block.dropped) Report(first, at, static_cast<DropCode>(block.code), history);
      at = first - 1;
    }
  }
  return news_;
}

void DropReports::Report(Seq64 first, Seq64 last, DropCode code, const SentHistory& history) {
  for (Seq64 seq = last; seq >= first; seq = seq - 1) {
    if (!history.MayHaveArrived(seq) || WasSeen(seq)) continue;
    Remember(seq);
    if (!news_.empty() && news_.back().code == code && news_.back().first == seq + 1) {
      news_.back().first = seq;
      ++news_.back().packets;
    } else {
      news_.push_back({seq, 1, code});
    }
  }
}

bool DropReports::WasSeen(Seq64 seq) const {
  // What was forgotten for want of room counts as seen: reacting twice would be worse.
  if (seen_.size() == kMaxRuns && seq < seen_.front().first) return true;
  const auto it = std::partition_point(seen_.begin(), seen_.end(),
                                       [seq](const Seen& run) { return run.last < seq; });
  return it != seen_.end() && it->first <= seq;
}

void DropReports::Remember(Seq64 seq) {
  auto it = std::partition_point(seen_.begin(), seen_.end(),
                                 [seq](const Seen& run) { return run.last + 1 < seq; });
  // `it` is the first run that ends at seq - 1 or later.
  if (it != seen_.end() && it->last + 1 == seq) {
    it->last = seq;
    const auto next = it + 1;
    if (next != seen_.end() && next->first == seq + 1) {
      it->last = next->last;
      seen_.erase(next);
    }
    return;
  }
  if (it != seen_.end() && it->first == seq + 1) {
    it->first = seq;
    return;
  }
  seen_.insert(it, {seq, seq});
  if (seen_.size() > kMaxRuns) seen_.erase(seen_.begin());
}

}  // namespace dccp
