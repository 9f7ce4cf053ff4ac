#include "ccid/ccid3/options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dccp::ccid3 {
namespace {

constexpr std::uint32_t kMax23 = 0x7FFFFF;
constexpr std::uint32_t kNoLoss = std::numeric_limits<std::uint32_t>::max();

std::uint32_t Read(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::byte b : bytes) value = value << 8 | std::to_integer<std::uint32_t>(b);
  return value;
}

void Write24(std::span<std::byte> out, std::uint32_t value) {
  out[0] = static_cast<std::byte>(value >> 16);
  out[1] = static_cast<std::byte>(value >> 8);
  out[2] = static_cast<std::byte>(value);
}

}  // namespace

RttEstimate RttEstimate::Of(Duration rtt) {
  if (rtt <= Duration::zero()) return {kNone};
  const auto us = std::chrono::ceil<std::chrono::microseconds>(rtt).count();
  return {static_cast<std::uint32_t>(std::min<std::int64_t>(us, kTooLong))};
}

std::optional<RttEstimate> DecodeRttEstimate(std::span<const std::byte> data) {
  if (data.empty() || data.size() > 3) return std::nullopt;
  return RttEstimate{Read(data)};
}

bool AddRttEstimate(OptionWriter& writer, RttEstimate estimate) {
  const std::size_t bytes = estimate.us > 0xFFFF ? 3 : estimate.us > 0xFF ? 2 : 1;
  return writer.AddInteger(kSenderRttEstimate, estimate.us, bytes);
}

std::optional<double> DecodeLossEventRate(std::span<const std::byte> data) {
  if (data.size() != 4) return std::nullopt;
  const std::uint32_t inverse = Read(data);
  if (inverse == kNoLoss) return 0;
  return inverse == 0 ? 1.0 : 1.0 / inverse;
}

bool AddLossEventRate(OptionWriter& writer, double p) {
  // A double's rounding must not turn 1/0.01 into 101.
  constexpr double kSlack = 1e-9;
  std::uint32_t inverse = kNoLoss;
  if (p > 0) {
    const double packets = std::ceil(1 / p * (1 - kSlack));
    inverse = static_cast<std::uint32_t>(std::min(packets, static_cast<double>(kNoLoss - 1)));
  }
  return writer.AddInteger(kLossEventRate, inverse, 4);
}

std::optional<double> DecodeReceiveRate(std::span<const std::byte> data) {
  if (data.size() != 4) return std::nullopt;
  return Read(data);
}

bool AddReceiveRate(OptionWriter& writer, double bytes_per_second) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  const double rate = std::clamp(std::round(bytes_per_second), 0.0, kMost);
  return writer.AddInteger(kReceiveRate, static_cast<std::uint32_t>(rate), 4);
}

bool AddLossIntervals(OptionWriter& writer, std::uint32_t skip,
                      std::span<const WireInterval> intervals) {
  const std::span<const WireInterval> fit =
      intervals.first(std::min(intervals.size(), kMaxIntervalsPerOption));
  std::span<std::byte> out = writer.Reserve(kLossIntervals, 1 + kWireIntervalBytes * fit.size());
  if (out.empty()) return false;
  out[0] = static_cast<std::byte>(skip);
  out = out.subspan(1);
  for (const WireInterval& interval : fit) {
    constexpr std::uint32_t kNonceBit = 1u << 23;
    Write24(out, std::min(interval.lossless, kMax24));
    Write24(out.subspan(3),
            std::min(interval.loss, kMax23) | (interval.nonce_echo ? kNonceBit : 0));
    Write24(out.subspan(6), std::min(interval.data, kMax24));
    out = out.subspan(kWireIntervalBytes);
  }
  return true;
}

WireInterval LossIntervalsView::operator[](std::size_t i) const {
  const auto bytes = entries.subspan(i * kWireIntervalBytes, kWireIntervalBytes);
  const std::uint32_t loss = Read(bytes.subspan(3, 3));
  return {Read(bytes.first(3)), loss & kMax23, Read(bytes.subspan(6, 3)), loss > kMax23};
}

std::optional<LossIntervalsView> DecodeLossIntervals(std::span<const std::byte> data) {
  if (data.size() < 1 + kWireIntervalBytes || (data.size() - 1) % kWireIntervalBytes != 0)
    return std::nullopt;
  const auto skip = std::to_integer<std::uint32_t>(data[0]);
  if (skip > kMaxSkip) return std::nullopt;
  return LossIntervalsView{skip, data.subspan(1)};
}

bool AddDroppedPackets(OptionWriter& writer, std::span<const std::uint32_t> counts) {
  const auto fit = counts.first(std::min(counts.size(), kMaxDropCountsPerOption));
  std::span<std::byte> out = writer.Reserve(kDroppedPackets, kDropCountBytes * fit.size());
  if (out.empty()) return false;
  for (const std::uint32_t count : fit) {
    Write24(out, std::min(count, kMax24));
    out = out.subspan(kDropCountBytes);
  }
  return true;
}

std::uint32_t DroppedPacketsView::operator[](std::size_t i) const {
  return Read(counts.subspan(i * kDropCountBytes, kDropCountBytes));
}

std::optional<DroppedPacketsView> DecodeDroppedPackets(std::span<const std::byte> data) {
  if (data.empty() || data.size() % kDropCountBytes != 0) return std::nullopt;
  return DroppedPacketsView{data};
}

}  // namespace dccp::ccid3
