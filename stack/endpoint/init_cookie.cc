#include "stack/endpoint/init_cookie.h"

#include <algorithm>

#include "stack/base/byte_order.h"
#include "stack/base/check.h"
#include "stack/wire/option_reader.h"

namespace dccp {
namespace {

constexpr unsigned kEcnMask = 0x03;
constexpr unsigned kDataRefused = 0x04;

}  // namespace

void WriteInitCookie(const InitCookie& cookie, std::span<std::byte> out) {
  DCCP_CHECK(out.size() == InitCookieBytes(cookie));
  std::byte* const p = out.data();
  p[0] = static_cast<std::byte>(static_cast<unsigned>(cookie.ecn) |
                                (cookie.data_refused ? kDataRefused : 0));
  StoreBe48(p + 1, cookie.iss.value());
  StoreBe48(p + 7, cookie.isr.value());
  StoreBe32(p + 13, cookie.service_code.value());
  StoreBe32(p + 17, cookie.answered.ticks());
  StoreBe32(p + 21, cookie.response_crc);
  StoreBe16(p + 25, static_cast<std::uint16_t>(cookie.options.size()));
  const auto rest = std::ranges::copy(cookie.options, p + kInitCookieFixedBytes).out;
  std::ranges::copy(cookie.data, rest);
}

std::optional<InitCookie> ReadInitCookie(std::span<const std::byte> bytes) {
  if (bytes.size() < kInitCookieFixedBytes) return std::nullopt;
  const std::byte* const p = bytes.data();
  const unsigned flags = Load8(p);
  const std::span<const std::byte> rest = bytes.subspan(kInitCookieFixedBytes);
  const std::size_t option_bytes = LoadBe16(p + 25);
  if ((flags & ~(kEcnMask | kDataRefused)) != 0 || option_bytes > rest.size()) return std::nullopt;
  InitCookie cookie;
  cookie.iss = SeqNo(LoadBe48(p + 1));
  cookie.isr = SeqNo(LoadBe48(p + 7));
  cookie.service_code = ServiceCode(LoadBe32(p + 13));
  cookie.answered = TenMicros(LoadBe32(p + 17));
  cookie.response_crc = LoadBe32(p + 21);
  cookie.ecn = static_cast<Ecn>(flags & kEcnMask);
  cookie.data_refused = (flags & kDataRefused) != 0;
  cookie.options = rest.first(option_bytes);
  cookie.data = rest.subspan(option_bytes);
  return cookie;
}

// The last bytes of an option may be zeros too, so only a reader can tell.
std::span<const std::byte> UnpaddedOptions(const PacketView& packet) {
  const std::span<const std::byte> area = packet.options();
  OptionReader reader(area);
  std::size_t end = 0;
  constexpr std::size_t kTypeAndLength = 2;
  for (OptionView option; reader.Next(&option);) {
    const bool single = static_cast<unsigned>(option.type) < 32;
    end = option.offset + (single ? 1 : kTypeAndLength + option.data.size());
  }
  // One byte of Padding stays: a Mandatory before it means nothing, and at the very end an error.
  return area.first(reader.malformed() ? area.size() : std::min(end + 1, area.size()));
}

}  // namespace dccp
