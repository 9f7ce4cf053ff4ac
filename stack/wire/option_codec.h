// Options with a fixed meaning, one by one. Decoders take an option's data (OptionView::data) and
// accept exactly the lengths that the RFC allows; empty: ignore the option. Encoders add one option
// and return false where it does not fit. RFC 4340 §5.8
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/option_writer.h"
#include "dccp/types.h"
#include "stack/wire/ten_micros.h"

namespace dccp {

// NDP Count: how many non-data packets came directly before this one; 1-6 bytes, the fewest that
// hold it. A count above 2^48 - 1 is sent as that. RFC 4340 §7.7
std::optional<std::uint64_t> DecodeNdpCount(std::span<const std::byte> data);
bool AddNdpCount(OptionWriter& writer, std::uint64_t count);

// Timestamp: 4 bytes. RFC 4340 §13.1
std::optional<TenMicros> DecodeTimestamp(std::span<const std::byte> data);
bool AddTimestamp(OptionWriter& writer, TenMicros timestamp);

// Elapsed Time: 2 bytes up to 0.65535 s, else 4. RFC 4340 §13.2
std::optional<TenMicros> DecodeElapsedTime(std::span<const std::byte> data);
bool AddElapsedTime(OptionWriter& writer, TenMicros elapsed);

// Timestamp Echo: 4 bytes of the peer's timestamp and 0, 2 or 4 of elapsed time, the fewest that
// hold it; absent elapsed time is zero. RFC 4340 §13.3
struct TimestampEcho {
  TenMicros timestamp;
  TenMicros elapsed;
  friend bool operator==(const TimestampEcho&, const TimestampEcho&) = default;
};
std::optional<TimestampEcho> DecodeTimestampEcho(std::span<const std::byte> data);
bool AddTimestampEcho(OptionWriter& writer, const TimestampEcho& echo);

// Init Cookie: opaque, any length up to 253 bytes; a longer one does not fit. Its data needs no
// decoder. RFC 4340 §8.1.4
inline constexpr std::size_t kMaxInitCookieBytes = 253;
bool AddInitCookie(OptionWriter& writer, std::span<const std::byte> cookie);

// Data Checksum: the CRC-32c of the application data area, in SCTP's byte order, in which the
// least significant byte of the reflected CRC comes first. RFC 4340 §9.3; RFC 3309 §2
std::optional<std::uint32_t> DecodeDataChecksum(std::span<const std::byte> data);
bool AddDataChecksum(OptionWriter& writer, std::uint32_t crc);

// Slow Receiver: one byte, no data. RFC 4340 §11.6
bool AddSlowReceiver(OptionWriter& writer);

// The reason of a Reset for an option: Option Error or Mandatory Error with the option's type and
// the first two bytes of its data, or zeros. RFC 4340 §5.6
ResetReason OptionReset(ResetCode code, OptionType type, std::span<const std::byte> data);

}  // namespace dccp
