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
  if (!first_sent_) first_sent_ = now;
  return true;
}

std::optional<Duration> Timestamps::OnEcho(std::uint32_t echo, Duration elapsed,
                                           TimePoint now) const {
  if (!first_sent_) return std::nullopt;
  const TenMicros age = TenMicros(Value(now)).Since(TenMicros(echo));
  // A value from the future counts as one from long ago. Two roundings make up to a unit.
  const Duration oldest = now - *first_sent_ + TenMicros::kUnit;
  if (age.ToDuration() > oldest || age.ToDuration() < elapsed) return std::nullopt;
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
