#include "stack/conn/reverse_loss.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dccp {

void ReverseLossDetector::Start(Seq64 isr) {
  newest_.fill({isr - 1, std::nullopt});
  counts_ = {};
}

void ReverseLossDetector::OnPacket(Seq64 seq, PacketType type, Ecn ecn,
                                   std::optional<std::uint64_t> ndp) {
  if (ecn == Ecn::kCe && !IsDataPacket(type)) ++counts_.marked;
  const Seq64 settled = newest_[2].seq;
  if (seq <= settled) return;
  newest_[2] = {seq, ndp};
  for (std::size_t i = 2; i > 0 && newest_[i].seq > newest_[i - 1].seq; --i) {
    std::swap(newest_[i], newest_[i - 1]);
  }
  const std::int64_t missing = newest_[2].seq - settled - 1;
  if (missing <= 0) return;
  // An NDP Count smaller than the gap before it proves that one of the lost was a data packet.
  // RFC 4340 §7.7.1
  auto lost = static_cast<std::uint64_t>(missing);
  if (newest_[2].ndp.has_value() && *newest_[2].ndp < lost) --lost;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  counts_.lost = static_cast<std::uint32_t>(std::min(kMost, counts_.lost + lost));
}

ReverseLossDetector::Counts ReverseLossDetector::Take() { return std::exchange(counts_, {}); }

}  // namespace dccp
