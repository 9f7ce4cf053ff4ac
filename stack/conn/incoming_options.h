// The options of a received packet, decoded once. RFC 4340 §5.8, §8.5 step 8
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "dccp/ccid.h"
#include "dccp/seqno.h"
#include "stack/conn/cookie_echo.h"
#include "stack/conn/feature_negotiator.h"
#include "stack/conn/sent_history.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/packet_view.h"

namespace dccp {

// A list of at most N elements; what exceeds it is dropped. The elements that are not in use stay
// uninitialised, since one of these is made for every packet.
template <typename T, std::size_t N>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ShortList() {}  // NOLINT(modernize-use-equals-default): the union has no default
  void Add(const T& value) {
    if (size_ < N) std::construct_at(&items_[size_++], value);
  }
  std::span<const T> view() const { return {items_, size_}; }
  bool empty() const { return size_ == 0; }

 private:
  union {
    T items_[N];
  };
  std::size_t size_ = 0;
};

// What the packet said; spans point into it. Of options that may occur once the last valid one
// counts. RFC 4340 §5.8
struct IncomingOptions {
  std::optional<TenMicros> timestamp;
  std::optional<TimestampEcho> echo;
  std::optional<TenMicros> elapsed;
  std::optional<std::uint64_t> ndp;
  std::optional<std::uint32_t> data_checksum;
  bool slow_receiver = false;
  // An option area of 1008 bytes holds at most five vectors of full length, or more of shorter.
  ShortList<AckVectorOption, 16> ack_vectors;
  ShortList<std::span<const std::byte>, 16> data_dropped;
  // One more than a client takes, so that it sees an excess.
  ShortList<std::span<const std::byte>, CookieEcho::kMaxCookies + 1> init_cookies;
  ShortList<RawOption, 16> to_sender;    // 192-255, for our HC-Sender
  ShortList<RawOption, 16> to_receiver;  // 128-191, for our HC-Receiver
};

// Which CCIDs judge CCID-specific options; null: the half-connection has none yet, and such options
// are unknown. RFC 4340 §10.3
struct OptionScanContext {
  FeatureNegotiator::Received packet;
  const CcidTraits* sender = nullptr;
  const CcidTraits* receiver = nullptr;
};

// Reads the option area in order, giving feature options to `features`. A value: the connection
// must be reset with it (RFC 4340 §5.8.2, §6.6.8); `out` then holds what came before.
std::optional<ResetReason> ScanOptions(const PacketView& packet, const OptionScanContext& context,
                                       FeatureNegotiator& features, IncomingOptions* out);

}  // namespace dccp
