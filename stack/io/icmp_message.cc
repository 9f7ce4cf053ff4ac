#include "stack/io/icmp_message.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include "stack/base/byte_order.h"

namespace dccp {
namespace {

constexpr std::size_t kIcmpHeaderBytes = 8;
constexpr std::uint8_t kIcmp = IPPROTO_ICMP;
constexpr std::uint8_t kIcmpV6 = IPPROTO_ICMPV6;

// RFC 792; RFC 1122 §3.2.2.1; RFC 1812 §5.2.7.1
std::optional<IcmpKind> UnreachableV4(std::uint8_t code) {
  switch (code) {
    case ICMP_HOST_UNREACH:
    case ICMP_SR_FAILED:
    case ICMP_HOST_UNKNOWN:
    case ICMP_HOST_ISOLATED:
    case ICMP_HOST_UNR_TOS:
      return IcmpKind::kHostUnreachable;
    case ICMP_PROT_UNREACH:
      return IcmpKind::kProtocolUnreachable;
    case ICMP_PORT_UNREACH:
      return IcmpKind::kPortUnreachable;
    case ICMP_FRAG_NEEDED:
      return IcmpKind::kTooBig;
    case ICMP_NET_ANO:
    case ICMP_HOST_ANO:
    case ICMP_PKT_FILTERED:
    case ICMP_PREC_VIOLATION:
    case ICMP_PREC_CUTOFF:
      return IcmpKind::kAdminProhibited;
    default:
      return IcmpKind::kNetUnreachable;
  }
}

}  // namespace

std::optional<IcmpKind> IcmpKindOfV4(std::uint8_t type, std::uint8_t code) {
  if (type == ICMP_DEST_UNREACH) return UnreachableV4(code);
  if (type == ICMP_TIME_EXCEEDED) return IcmpKind::kTimeExceeded;
  if (type == ICMP_PARAMETERPROB) return IcmpKind::kParameterProblem;
  return std::nullopt;
}

namespace {

// RFC 4443 §3.1
std::optional<IcmpKind> UnreachableV6(std::uint8_t code) {
  switch (code) {
    case ICMP6_DST_UNREACH_ADMIN:
    case 5:  // source address failed ingress policy
      return IcmpKind::kAdminProhibited;
    case ICMP6_DST_UNREACH_ADDR:
      return IcmpKind::kHostUnreachable;
    case ICMP6_DST_UNREACH_NOPORT:
      return IcmpKind::kPortUnreachable;
    default:
      return IcmpKind::kNetUnreachable;
  }
}

}  // namespace

std::optional<IcmpKind> IcmpKindOfV6(std::uint8_t type, std::uint8_t code) {
  if (type == ICMP6_DST_UNREACH) return UnreachableV6(code);
  if (type == ICMP6_PACKET_TOO_BIG) return IcmpKind::kTooBig;
  if (type == ICMP6_TIME_EXCEEDED) return IcmpKind::kTimeExceeded;
  if (type == ICMP6_PARAM_PROB) {
    // An unrecognized Next Header is IPv6's protocol unreachable. RFC 4443 §3.4
    return code == ICMP6_PARAMPROB_NEXTHEADER ? IcmpKind::kProtocolUnreachable
                                              : IcmpKind::kParameterProblem;
  }
  return std::nullopt;
}

std::optional<IcmpError> ReadIcmpError(const IpHeader& packet) {
  const std::span<const std::byte> message = packet.payload;
  if (packet.fragment || message.size() < kIcmpHeaderBytes) return std::nullopt;
  const auto type = std::to_integer<std::uint8_t>(message[0]);
  const auto code = std::to_integer<std::uint8_t>(message[1]);
  const bool v4 = packet.source.family == IpFamily::kV4;
  if (packet.protocol != (v4 ? kIcmp : kIcmpV6)) return std::nullopt;
  const std::optional<IcmpKind> kind = v4 ? IcmpKindOfV4(type, code) : IcmpKindOfV6(type, code);
  if (!kind) return std::nullopt;
  const std::optional<IpHeader> quoted =
      ReadIpHeader(message.subspan(kIcmpHeaderBytes), Extent::kQuoted);
  if (!quoted || quoted->protocol != kProtocolNumber || quoted->fragment) return std::nullopt;
  IcmpError error = {};
  error.kind = *kind;
  if (*kind == IcmpKind::kTooBig)
    error.mtu_bytes = v4 ? LoadBe16(&message[6]) : LoadBe32(&message[4]);
  error.path.local = quoted->source;
  error.path.remote = quoted->destination;
  error.quoted = quoted->payload;
  return error;
}

}  // namespace dccp
