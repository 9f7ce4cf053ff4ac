// A negotiator with hexadecimal options in and out, for the feature tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stack/conn/feature_negotiator.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/option_reader.h"

namespace dccp::feature_test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using enum FeatureNumber;
using enum Located;

inline constexpr std::int64_t kIss = 1'000'000;  // ours
inline constexpr std::int64_t kIsr = 5'000'000;  // the peer's
inline constexpr Seq64 S(std::int64_t n) { return Seq64(kIss + n); }
inline constexpr Seq64 R(std::int64_t n) { return Seq64(kIsr + n); }
inline TimePoint At(Duration d) { return TimePoint(d); }

// RFC 4341 §4 and RFC 4342 §4, as the CCIDs state them.
inline constexpr CcidFeatureNeed kCcid2Needs[] = {{kSendAckVector, false, true, 1}};
inline constexpr CcidFeatureNeed kCcid3Needs[] = {{kAckRatio, true, false, 0},
                                                  {kSendAckVector, false, false, 0},
                                                  {kSendNdpCount, true, true, 1},
                                                  {kSendLossEventRate, false, true, 1}};

inline std::vector<std::byte> FromHex(const std::string& hex) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::string ToHex(std::span<const std::byte> bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string hex;
  for (std::byte b : bytes) {
    hex += kDigits[static_cast<unsigned>(b) >> 4];
    hex += kDigits[static_cast<unsigned>(b) & 15];
  }
  return hex;
}

// The feature options of an option area, each as hex; "01" in front where Mandatory precedes it.
inline std::vector<std::string> FeatureOptions(std::span<const std::byte> area) {
  std::vector<std::string> options;
  OptionReader reader(area);
  OptionView view;
  bool mandatory = false;
  while (reader.Next(&view)) {
    if (view.type == OptionType::kMandatory) {
      mandatory = true;
      continue;
    }
    if (DecodeFeatureOption(view)) {
      options.push_back((mandatory ? "01" : "") +
                        ToHex(area.subspan(view.offset, view.data.size() + 2)));
    }
    mandatory = false;
  }
  return options;
}

// Feeds one packet; the first verdict that asks for a Reset ends it.
inline std::optional<ResetReason> Feed(FeatureNegotiator& negotiator,
                                       const FeatureNegotiator::Received& packet,
                                       std::span<const std::byte> area) {
  OptionReader reader(area);
  OptionView view;
  bool mandatory = false;
  while (reader.Next(&view)) {
    if (view.type == OptionType::kMandatory) {
      mandatory = true;
      continue;
    }
    if (const auto option = DecodeFeatureOption(view)) {
      if (auto reset = negotiator.OnOption(packet, *option, mandatory)) return reset;
    }
    mandatory = false;
  }
  negotiator.EndPacket(packet);
  return std::nullopt;
}

// Confirm of Minimum Checksum Coverage by an endpoint that preferred nothing until it was asked for
// `first` (-1: for `value`): that one, then all others.
inline std::string Confirm8(const std::string& type, int value, int first = -1) {
  PreferenceList list = {static_cast<std::uint8_t>(first < 0 ? value : first)};
  for (std::uint8_t v = 0; v < 16; ++v) list.Add(v);
  const std::byte chosen{static_cast<unsigned char>(value)};
  return type + "1408" + ToHex({&chosen, 1}) + ToHex(list.bytes());
}

enum class Needs { kNone, kReal };

// One endpoint that runs CCIDs 2 and 3, by default as if they needed no feature. Sequence numbers
// of both directions advance by themselves; everything it sends acknowledges the newest packet that
// it received.
class Endpoint {
 public:
  enum class Phase { kHandshake, kOpen };

  explicit Endpoint(Role role, Needs needs = Needs::kNone) : n(role) {
    using NeedSpan = std::span<const CcidFeatureNeed>;
    const bool real = needs == Needs::kReal;
    EXPECT_TRUE(n.RegisterCcid(CcidId::k2, real ? NeedSpan(kCcid2Needs) : NeedSpan()));
    EXPECT_TRUE(n.RegisterCcid(CcidId::k3, real ? NeedSpan(kCcid3Needs) : NeedSpan()));
  }

  Endpoint& Start(Phase phase = Phase::kOpen) {
    n.Start(S(0));
    n.OnPeerInitial(R(0));
    if (phase == Phase::kOpen) n.SetOpen(now);
    return *this;
  }

  std::optional<ResetReason> Receive(const std::string& hex, PacketType type = PacketType::kAck) {
    return ReceiveAt(++peer_seq, S(sent_seq), hex, type);
  }
  std::optional<ResetReason> ReceiveAt(std::int64_t seq, std::optional<Seq64> ack,
                                       const std::string& hex, PacketType type = PacketType::kAck) {
    if (seq > peer_seq) peer_seq = seq;
    const auto bytes = FromHex(hex);
    return Feed(n, {type, R(seq), HasAckNumber(type) ? ack : std::nullopt}, bytes);
  }

  // What a packet of this type would carry now, as hex.
  std::string Send(PacketType type = PacketType::kAck, std::size_t room = 200) {
    std::vector<std::byte> buffer(room);
    OptionWriter writer(buffer);
    n.WriteOptions(
        {type, S(++sent_seq), HasAckNumber(type) ? std::optional(R(peer_seq)) : std::nullopt, now},
        writer);
    return ToHex(writer.bytes());
  }

  std::uint64_t Value(FeatureNumber feature, Located at = kLocal) const {
    return n.value(feature, at);
  }

  FeatureNegotiator n;
  TimePoint now = At(seconds(1));
  std::int64_t sent_seq = 0;
  std::int64_t peer_seq = 0;
};

inline ResetReason Reset(ResetCode code, std::uint8_t type, std::uint8_t feature,
                         std::uint8_t value) {
  return {code, {type, feature, value}};
}

}  // namespace dccp::feature_test
