#include "stack/wire/option_codec.h"

#include <algorithm>

#include "stack/wire/integer_field.h"

namespace dccp {
namespace {

constexpr std::uint64_t kMaxNdpCount = (std::uint64_t{1} << 48) - 1;
constexpr std::uint32_t kMaxTwoByteTicks = 0xFFFF;

TenMicros LoadTenMicros(std::span<const std::byte> bytes) {
  return TenMicros(static_cast<std::uint32_t>(LoadInteger(bytes)));
}

// Least significant byte first; its own inverse.
constexpr std::uint32_t SwapBytes(std::uint32_t v) {
  return (v >> 24) | ((v >> 8) & 0xFF00u) | ((v << 8) & 0xFF0000u) | (v << 24);
}

}  // namespace

std::optional<std::uint64_t> DecodeNdpCount(std::span<const std::byte> data) {
  if (data.empty() || data.size() > 6) return std::nullopt;
  return LoadInteger(data);
}

bool AddNdpCount(OptionWriter& writer, std::uint64_t count) {
  count = std::min(count, kMaxNdpCount);
  std::size_t bytes = 1;
  while (count >> (8 * bytes) != 0) ++bytes;
  return writer.AddInteger(OptionType::kNdpCount, count, bytes);
}

std::optional<TenMicros> DecodeTimestamp(std::span<const std::byte> data) {
  if (data.size() != 4) return std::nullopt;
  return LoadTenMicros(data);
}

bool AddTimestamp(OptionWriter& writer, TenMicros timestamp) {
  return writer.AddInteger(OptionType::kTimestamp, timestamp.ticks(), 4);
}

std::optional<TenMicros> DecodeElapsedTime(std::span<const std::byte> data) {
  if (data.size() != 2 && data.size() != 4) return std::nullopt;
  return LoadTenMicros(data);
}

bool AddElapsedTime(OptionWriter& writer, TenMicros elapsed) {
  const std::size_t bytes = elapsed.ticks() <= kMaxTwoByteTicks ? 2 : 4;
  return writer.AddInteger(OptionType::kElapsedTime, elapsed.ticks(), bytes);
}

std::optional<TimestampEcho> DecodeTimestampEcho(std::span<const std::byte> data) {
  if (data.size() != 4 && data.size() != 6 && data.size() != 8) return std::nullopt;
  return TimestampEcho{LoadTenMicros(data.first(4)), LoadTenMicros(data.subspan(4))};
}

bool AddTimestampEcho(OptionWriter& writer, const TimestampEcho& echo) {
  const std::uint32_t elapsed = echo.elapsed.ticks();
  const std::size_t elapsed_bytes = elapsed == 0 ? 0 : elapsed <= kMaxTwoByteTicks ? 2 : 4;
  const std::span<std::byte> out = writer.Reserve(OptionType::kTimestampEcho, 4 + elapsed_bytes);
  if (out.empty()) return false;
  StoreInteger(out.first(4), echo.timestamp.ticks());
  StoreInteger(out.subspan(4), elapsed);
  return true;
}

bool AddInitCookie(OptionWriter& writer, std::span<const std::byte> cookie) {
  return writer.Add(OptionType::kInitCookie, cookie);
}

std::optional<std::uint32_t> DecodeDataChecksum(std::span<const std::byte> data) {
  if (data.size() != 4) return std::nullopt;
  return SwapBytes(static_cast<std::uint32_t>(LoadInteger(data)));
}

bool AddDataChecksum(OptionWriter& writer, std::uint32_t crc) {
  return writer.AddInteger(OptionType::kDataChecksum, SwapBytes(crc), 4);
}

bool AddSlowReceiver(OptionWriter& writer) { return writer.AddByte(OptionType::kSlowReceiver); }

ResetReason OptionReset(ResetCode code, OptionType type, std::span<const std::byte> data) {
  ResetReason reason = {code, {static_cast<std::uint8_t>(type), 0, 0}};
  for (std::size_t i = 0; i < 2 && i < data.size(); ++i)
    reason.data[i + 1] = std::to_integer<std::uint8_t>(data[i]);
  return reason;
}

}  // namespace dccp
