#include "stack/wire/icmp_quote.h"

#include "stack/base/byte_order.h"

namespace dccp {

std::optional<IcmpQuote> ParseIcmpQuote(std::span<const std::byte> dccp) {
  if (dccp.size() < 4) return std::nullopt;
  const std::byte* p = dccp.data();
  IcmpQuote quote;
  quote.source_port = LoadBe16(p);
  quote.destination_port = LoadBe16(p + 2);
  // The X bit lies in byte 8, beyond the 8 bytes that every ICMP error quotes.
  if (dccp.size() < 12) return quote;
  quote.extended = (Load8(p + 8) & 1) != 0;
  if (!quote.extended)
    quote.seq = SeqNo(LoadBe24(p + 9));
  else if (dccp.size() >= 16)
    quote.seq = SeqNo(LoadBe48(p + 10));
  return quote;
}

}  // namespace dccp
