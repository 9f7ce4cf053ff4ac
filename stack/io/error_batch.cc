#include "stack/io/error_batch.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stack/io/icmp_message.h"
#include "stack/io/socket_address.h"

namespace dccp {
std::optional<IcmpKind> IcmpKindOf(const sock_extended_err& error) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP) return IcmpKindOfV4(error.ee_type, error.ee_code);
  if (error.ee_origin == SO_EE_ORIGIN_ICMP6) return IcmpKindOfV6(error.ee_type, error.ee_code);
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

bool ErrorBatch::Add(const IcmpError& error) {
  if (count_ == kMaxErrors) return false;
  std::array<std::byte, kQuoteBytes>& quote = quotes_[count_];
  const std::size_t length = std::min(error.quoted.size(), quote.size());
  std::copy_n(error.quoted.begin(), length, quote.begin());
  errors_[count_] = error;
  errors_[count_++].quoted = std::span(quote).first(length);
  return true;
}

void ErrorBatch::TakeFailures(PacketSender& sender) {
  for (const LocalFailure& failure : sender.failures()) {
    Add({failure.kind, 0, failure.path, std::span(failure.quoted).first(failure.quoted_bytes)});
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
