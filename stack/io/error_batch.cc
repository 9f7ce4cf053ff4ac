#include "stack/io/error_batch.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stack/io/socket_address.h"

namespace dccp {
namespace {

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

std::optional<IcmpKind> FromIcmpV4(std::uint8_t type, std::uint8_t code) {
  if (type == ICMP_DEST_UNREACH) return UnreachableV4(code);
  if (type == ICMP_TIME_EXCEEDED) return IcmpKind::kTimeExceeded;
  if (type == ICMP_PARAMETERPROB) return IcmpKind::kParameterProblem;
  return std::nullopt;
}

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

std::optional<IcmpKind> FromIcmpV6(std::uint8_t type, std::uint8_t code) {
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

}  // namespace

std::optional<IcmpKind> IcmpKindOf(const sock_extended_err& error) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP) return FromIcmpV4(error.ee_type, error.ee_code);
  if (error.ee_origin == SO_EE_ORIGIN_ICMP6) return FromIcmpV6(error.ee_type, error.ee_code);
  return std::nullopt;
}

ErrorBatch::Read ErrorBatch::ReadOne(int fd, const Path& own, std::uint32_t* local_mtu) {
  SocketAddress destination;
  std::array<std::byte, kQuoteBytes>& quote = quotes_[count_];
  iovec buffer = {quote.data(), quote.size()};
  alignas(cmsghdr) std::byte control[kReceiveControlBytes];
  msghdr message = {};
  message.msg_name = destination.get();
  message.msg_namelen = SocketAddress::Capacity();
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t length = 0;
  do {
    length = ::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return Read::kEmpty;

  const Ancillary ancillary = ParseAncillary(message);
  if (!ancillary.error) return Read::kSkipped;
  if (ancillary.error->ee_origin == SO_EE_ORIGIN_LOCAL && ancillary.error->ee_errno == EMSGSIZE) {
    *local_mtu = ancillary.error->ee_info;
    return Read::kSkipped;
  }
  const std::optional<IcmpKind> kind = IcmpKindOf(*ancillary.error);
  if (!kind) return Read::kSkipped;
  IcmpError& out = errors_[count_++];
  out.kind = *kind;
  out.mtu_bytes = *kind == IcmpKind::kTooBig ? ancillary.error->ee_info : 0;
  out.path = own;
  if (ancillary.local && own.local.IsUnspecified()) out.path.local = *ancillary.local;
  out.path.remote = destination.address();
  out.path.remote_udp_port = own.local_udp_port == 0 ? std::uint16_t{0} : destination.port();
  out.quoted = {quote.data(), static_cast<std::size_t>(length)};
  return Read::kError;
}

void ErrorBatch::TakeFailures(PacketSender& sender) {
  for (const LocalFailure& failure : sender.failures()) {
    std::array<std::byte, kQuoteBytes>& quote = quotes_[count_];
    std::memcpy(quote.data(), failure.quoted.data(), failure.quoted_bytes);
    errors_[count_++] = {failure.kind, 0, failure.path, {quote.data(), failure.quoted_bytes}};
  }
  sender.ClearFailures();
}

bool ErrorBatch::Fill(int fd, const Path& own, PacketSender& sender) {
  count_ = 0;
  TakeFailures(sender);
  const std::size_t failures = count_;
  std::uint32_t local_mtu = 0;
  Read read = Read::kSkipped;
  // Bounded: skipped entries count as well.
  for (std::size_t i = count_; i < kMaxErrors && read != Read::kEmpty; ++i) {
    read = ReadOne(fd, own, &local_mtu);
  }
  for (IcmpError& error : std::span(errors_).first(failures)) {
    if (error.kind == IcmpKind::kTooBig) error.mtu_bytes = local_mtu;
  }
  return read != Read::kEmpty;
}

}  // namespace dccp
