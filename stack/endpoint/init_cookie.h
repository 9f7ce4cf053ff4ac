// What a listener writes into an Init Cookie, before it is sealed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/seqno.h"
#include "dccp/service_code.h"
#include "dccp/types.h"
#include "stack/wire/packet_view.h"
#include "stack/wire/ten_micros.h"

namespace dccp {

// Everything from which a server in LISTEN makes the connection that it would have kept: the
// Request, as the listener saw it, and when and with which number it was answered. The features
// agreed on are not listed: they follow from the Request's options and the listener's own wishes,
// by the code that answered it in the first place, and a checksum over the options of the Response
// tells whether that still comes to the same. Addresses and ports are bound to the cookie by its
// seal. RFC 4340 §8.1.4
struct InitCookie {
  SeqNo iss;  // sequence number of the Response
  SeqNo isr;  // sequence number of the Request
  ServiceCode service_code;
  TenMicros answered;                       // when, as a Timestamp value
  std::uint32_t response_crc = 0;           // CRC-32c of the Response's options without the cookies
  Ecn ecn = Ecn::kNotEct;                   // of the Request
  bool data_refused = false;                // it brought data that found no place in `data`
  std::span<const std::byte> options = {};  // of the Request, without the Padding at their end
  std::span<const std::byte> data = {};     // of the application, on the Request
};

inline constexpr std::size_t kInitCookieFixedBytes = 27;

constexpr std::size_t InitCookieBytes(const InitCookie& cookie) {
  return kInitCookieFixedBytes + cookie.options.size() + cookie.data.size();
}
// `out` has InitCookieBytes() bytes.
//
//   | flags (1) | ISS (6) | ISR (6) | Service Code (4) | answered (4) | CRC (4) |
//   | length of options (2) | options ... | data ... |
//
//   flags: ECN field (2 bits), data refused (1 bit)
void WriteInitCookie(const InitCookie& cookie, std::span<std::byte> out);
// Spans point into `bytes`. Empty: no such cookie.
std::optional<InitCookie> ReadInitCookie(std::span<const std::byte> bytes);

// The options of `packet` with at most a byte of the Padding at their end.
std::span<const std::byte> UnpaddedOptions(const PacketView& packet);

}  // namespace dccp
