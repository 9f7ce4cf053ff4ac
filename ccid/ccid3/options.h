// The options of CCID 3 and CCID 4. RFC 4342 §8, RFC 5622 §8, RFC 6323 §3.2
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/option_writer.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::ccid3 {

inline constexpr OptionType kSenderRttEstimate{128};
inline constexpr OptionType kLossEventRate{192};
inline constexpr OptionType kLossIntervals{193};
inline constexpr OptionType kReceiveRate{194};
inline constexpr OptionType kDroppedPackets{195};  // CCID 4

inline constexpr std::uint32_t kMax24 = 0xFFFFFF;

// Sender RTT Estimate: a number of microseconds, or none. One to three bytes, the fewest that hold
// it; a fraction counts up, what is too long for the field is sent as 0xFFFFFF. RFC 6323 §3.2.1
struct RttEstimate {
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kTooLong = kMax24;
  std::uint32_t us = kNone;
  bool numeric() const { return us != kNone && us != kTooLong; }
  // Zero: no estimate.
  static RttEstimate Of(Duration rtt);
};
// Empty: not 1 to 3 bytes, which is a fault of the peer. RFC 6323 §3.3
std::optional<RttEstimate> DecodeRttEstimate(std::span<const std::byte> data);
bool AddRttEstimate(OptionWriter& writer, RttEstimate estimate);

// Loss Event Rate: data packets to a loss event, rounded up; all ones while there was no loss. As
// a rate p, 0 for no loss. RFC 4342 §8.5
inline constexpr std::size_t kLossEventRateBytes = 6;
std::optional<double> DecodeLossEventRate(std::span<const std::byte> data);
bool AddLossEventRate(OptionWriter& writer, double p);

// Receive Rate: bytes a second, as much as 32 bits hold. RFC 4342 §8.3
inline constexpr std::size_t kReceiveRateBytes = 6;
std::optional<double> DecodeReceiveRate(std::span<const std::byte> data);
bool AddReceiveRate(OptionWriter& writer, double bytes_per_second);

// One interval of the Loss Intervals option; values above a field's width saturate. RFC 4342 §8.6
//
//   +--------...-------+--------...--------+--------...--------+
//   | Lossless Length  |E|   Loss Length   |    Data Length    |
//   +--------...-------+--------...--------+--------...--------+
//          3 bytes            3 bytes             3 bytes
struct WireInterval {
  std::uint32_t lossless = 0;
  std::uint32_t loss = 0;
  std::uint32_t data = 0;
  bool nonce_echo = false;
  friend bool operator==(const WireInterval&, const WireInterval&) = default;
};
inline constexpr std::size_t kWireIntervalBytes = 9;
inline constexpr std::size_t kMaxIntervalsPerOption = 28;
inline constexpr std::uint32_t kMaxSkip = 3;

constexpr std::size_t LossIntervalsBytes(std::size_t intervals) {
  return 3 + kWireIntervalBytes * intervals;
}
// At most 28 intervals, newest first.
bool AddLossIntervals(OptionWriter& writer, std::uint32_t skip,
                      std::span<const WireInterval> intervals);

// The data of one Loss Intervals option.
struct LossIntervalsView {
  std::uint32_t skip = 0;
  std::span<const std::byte> entries;
  std::size_t size() const { return entries.size() / kWireIntervalBytes; }
  WireInterval operator[](std::size_t i) const;
};
// Empty: no whole number of intervals, none, or a Skip Length above 3.
std::optional<LossIntervalsView> DecodeLossIntervals(std::span<const std::byte> data);

// Dropped Packets: how many packets of each loss interval were lost or marked, newest interval
// first. RFC 5622 §8.7
//
//   +--------+--------+-------...-------+--------+-------
//   |11000011| Length |   Drop Count    | More Drop Counts...
//   +--------+--------+-------...-------+--------+-------
//                          3 bytes
inline constexpr std::size_t kDropCountBytes = 3;
inline constexpr std::size_t kMaxDropCountsPerOption = 84;

constexpr std::size_t DroppedPacketsBytes(std::size_t intervals) {
  return 2 + kDropCountBytes * intervals;
}
// At most 84 counts; those above the field's width saturate.
bool AddDroppedPackets(OptionWriter& writer, std::span<const std::uint32_t> counts);

// The data of one Dropped Packets option.
struct DroppedPacketsView {
  std::span<const std::byte> counts;
  std::size_t size() const { return counts.size() / kDropCountBytes; }
  std::uint32_t operator[](std::size_t i) const;
};
// Empty: no whole number of counts, or none.
std::optional<DroppedPacketsView> DecodeDroppedPackets(std::span<const std::byte> data);

}  // namespace dccp::ccid3
