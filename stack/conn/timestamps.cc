#include "stack/conn/timestamps.h"

#include <algorithm>

#include "stack/wire/option_codec.h"
#include "stack/wire/ten_micros.h"

namespace dccp {

std::uint32_t Timestamps::Value(TimePoint now) {
  return std::max<std::uint32_t>(TenMicros::TimestampAt(now).ticks(), 1);
}

bool Timestamps::WriteTimestamp(OptionWriter& out, TimePoint now) {
  if (!AddTimestamp(out, TenMicros(Value(now)))) return false;
  sent_ = true;
  return true;
}

std::optional<Duration> Timestamps::OnEcho(std::uint32_t echo, Duration elapsed,
                                           TimePoint now) const {
  if (!sent_) return std::nullopt;
  const TenMicros age = TenMicros(Value(now)).Since(TenMicros(echo));
  // More than half the range back is the future, or nonsense.
  if (age.ticks() > TenMicros::kMaxTicks / 2 || age.ToDuration() < elapsed) return std::nullopt;
  return std::max<Duration>(age.ToDuration() - elapsed, TenMicros::kUnit);
}

void Timestamps::OnTimestamp(std::uint32_t value, Seq64 seq, TimePoint now) {
  if (newest_.has_value() && seq < *newest_) return;
  newest_ = seq;
  pending_ = {value, seq, now};
}

bool Timestamps::WriteEcho(OptionWriter& out, TimePoint now) {
  if (!pending_.has_value()) return false;
  const TenMicros elapsed = TenMicros::FromDuration(now - pending_->arrival);
  if (!AddTimestampEcho(out, {TenMicros(pending_->value), elapsed})) return false;
  pending_.reset();
  return true;
}

}  // namespace dccp
