// Reads a socket's error queue: ICMP errors for packets it sent. RFC 4340 §14.1, RFC 6773 §3.6
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/endpoint.h"
#include "stack/io/ancillary.h"
#include "stack/io/packet_sender.h"

namespace dccp {

// What an extended error means; nothing for one that is no news about the path.
std::optional<IcmpKind> IcmpKindOf(const sock_extended_err& error);

// Owns the errors read last and the bytes they quote, valid until the next Fill().
class ErrorBatch {
 public:
  static constexpr std::size_t kMaxErrors = 16;
  static constexpr std::size_t kQuoteBytes = 512;

  // Takes the sender's failures and what the queue of `fd` holds, as far as there is room; true if
  // there may be more. `own` gives the local address and UDP port, for what a message does not say.
  bool Fill(int fd, const Path& own, PacketSender& sender);
  // By hand, for a device without an error queue. False: no room.
  void Clear() { count_ = 0; }
  bool Add(const IcmpError& error);
  std::span<const IcmpError> errors() const { return {errors_.data(), count_}; }

 private:
  enum class Read { kEmpty, kSkipped, kError };
  Read ReadOne(int fd, const Path& own, std::uint32_t* local_mtu);
  void TakeFailures(PacketSender& sender);

  std::array<std::array<std::byte, kQuoteBytes>, kMaxErrors> quotes_ = {};
  std::array<IcmpError, kMaxErrors> errors_ = {};
  std::size_t count_ = 0;
};

}  // namespace dccp
