// What dccp-send writes at the start of generated payload, so that a receiver can tell loss and
// jitter. Payload from a file carries none.
//
//   0: magic "DSMP" | 4: counter from 0, modulo 2^32 | 8: time of sending in ns, sender's clock
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/time.h"
#include "stack/base/byte_order.h"

namespace dccp::apps {

inline constexpr std::uint32_t kStampMagic = 0x44534D50u;
inline constexpr std::size_t kStampCounterBytes = 8;  // the shortest payload with a counter
inline constexpr std::size_t kStampTimeBytes = 16;    // the shortest payload with a time

struct Stamp {
  std::uint32_t counter = 0;
  std::optional<TimePoint> time;
};

// Writes as much of the stamp as fits.
inline void WriteStamp(std::span<std::byte> payload, std::uint32_t counter, TimePoint now) {
  if (payload.size() < kStampCounterBytes) return;
  StoreBe32(payload.data(), kStampMagic);
  StoreBe32(payload.data() + 4, counter);
  if (payload.size() < kStampTimeBytes) return;
  StoreBe64(payload.data() + 8, static_cast<std::uint64_t>(now.time_since_epoch().count()));
}

inline std::optional<Stamp> ReadStamp(std::span<const std::byte> payload) {
  if (payload.size() < kStampCounterBytes || LoadBe32(payload.data()) != kStampMagic)
    return std::nullopt;
  Stamp stamp;
  stamp.counter = LoadBe32(payload.data() + 4);
  if (payload.size() >= kStampTimeBytes)
    stamp.time = TimePoint(Duration(static_cast<std::int64_t>(LoadBe64(payload.data() + 8))));
  return stamp;
}

}  // namespace dccp::apps
