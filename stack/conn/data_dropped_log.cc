#include "stack/conn/data_dropped_log.h"

#include <algorithm>
#include <array>

#include "stack/wire/data_dropped_codec.h"

namespace dccp {

namespace {

// Gathers blocks into options of at most 253 of them.
class BlockSink {
 public:
  explicit BlockSink(OptionWriter& out) : out_(out) {}

  void Put(bool dropped, DropCode code, std::int64_t packets) {
    auto left = static_cast<std::uint64_t>(packets);
    while (left > 0) {
      const std::size_t limit = Limit();
      if (used_ >= limit) {
        if (limit < blocks_.size()) return;  // the space is used up
        Flush();
        continue;
      }
      used_ += EncodeDataDroppedRun(dropped, static_cast<std::uint8_t>(code), &left,
                                    std::span(blocks_).subspan(used_, limit - used_));
    }
  }

  void Flush() {
    if (used_ > 0) out_.Add(OptionType::kDataDropped, std::span(blocks_).first(used_));
    used_ = 0;
  }

 private:
  std::size_t Limit() const {
    const std::size_t room = out_.remaining() < 2 ? 0 : out_.remaining() - 2;
    return std::min(room, blocks_.size());
  }

  OptionWriter& out_;
  std::array<std::byte, kMaxBlocksPerDataDropped> blocks_;
  std::size_t used_ = 0;
};

std::int64_t BlocksFor(bool dropped, std::int64_t packets) {
  const std::int64_t most = dropped ? kMaxPacketsPerDropBlock : kMaxPacketsPerNormalBlock;
  return (packets + most - 1) / most;
}

}  // namespace

bool DataDroppedLog::Record(Seq64 seq, DropCode code) {
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(first_);
  // The first run that begins after `seq`; drops mostly come in order, at the end.
  auto after = empty() || runs_.back().first <= seq
                   ? runs_.end()
                   : std::upper_bound(begin, runs_.end(), seq,
                                      [](Seq64 s, const Run& run) { return s < run.first; });
  if (after != begin) {
    Run& before = *(after - 1);
    if (before.last() >= seq) return false;
    if (before.last() + 1 == seq && before.code == code) {
      ++before.length;
      return true;
    }
  }
  runs_.insert(after, {seq, 1, code});
  if (runs() > kMaxRuns) DropFront();
  return true;
}

void DataDroppedLog::DropFront() {
  ++first_;
  if (first_ < kMaxRuns && first_ < runs_.size()) return;
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

void DataDroppedLog::ForgetBefore(Seq64 seq) {
  while (!empty() && runs_[first_].last() < seq) DropFront();
}

// Calls emit(dropped, code, packets) from `ackno` down to the oldest drop in the window.
template <typename Emit>
void DataDroppedLog::ForEachBlockRun(Seq64 ackno, Seq64 window_start, Emit emit) const {
  Seq64 at = ackno;
  for (std::size_t i = runs_.size(); i > first_; --i) {
    const Run& run = runs_[i - 1];
    if (run.last() < window_start) return;
    if (run.first > ackno) continue;
    const Seq64 last = std::min(run.last(), ackno);
    const Seq64 first = std::max(run.first, window_start);
    if (at > last) emit(false, DropCode::kProtocolConstraints, at - last);
    emit(true, run.code, last - first + 1);
    at = first - 1;
  }
}

std::size_t DataDroppedLog::Write(OptionWriter& out, Seq64 ackno, Seq64 window_start) const {
  const std::size_t before = out.size();
  BlockSink sink(out);
  ForEachBlockRun(ackno, window_start, [&](bool dropped, DropCode code, std::int64_t packets) {
    sink.Put(dropped, code, packets);
  });
  sink.Flush();
  return out.size() - before;
}

std::size_t DataDroppedLog::EncodedBytes(Seq64 ackno, Seq64 window_start) const {
  std::int64_t blocks = 0;
  ForEachBlockRun(ackno, window_start, [&](bool dropped, DropCode, std::int64_t packets) {
    blocks += BlocksFor(dropped, packets);
  });
  constexpr auto kMost = static_cast<std::int64_t>(kMaxBlocksPerDataDropped);
  return static_cast<std::size_t>(blocks + 2 * ((blocks + kMost - 1) / kMost));
}

}  // namespace dccp
