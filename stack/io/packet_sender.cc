#include "stack/io/packet_sender.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stack/io/socket_options.h"

namespace dccp {
namespace {

bool IsSegmentationError(int error) {
  return error == EIO || error == EINVAL || error == EMSGSIZE || error == EOPNOTSUPP;
}

IcmpKind KindOf(int error) {
  switch (error) {
    case EMSGSIZE:
      return IcmpKind::kTooBig;
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
      return IcmpKind::kNetUnreachable;
    case EPERM:
    case EACCES:
      return IcmpKind::kAdminProhibited;
    default:
      return IcmpKind::kHostUnreachable;
  }
}

}  // namespace

void PacketSender::AllowFragments(bool allow) {
  if (fragments_ == allow) return;
  if (SetFragmentation(fd_, traits_.family, allow)) fragments_ = allow;
}

void PacketSender::Build(std::span<const OutboundDatagram> out, bool segment, SendBatch& batch) {
  SendTraits traits = traits_;
  traits.segment = segment;
  batch.Clear();
  AllowFragments(out.front().may_fragment);
  while (!out.empty() && out.front().may_fragment == fragments_) {
    const std::size_t count = batch.Append(out, traits);
    if (count == 0) return;
    out = out.subspan(count);
  }
  // A socket that would not change its DF mode still has to carry the datagram.
  if (batch.messages() == 0) batch.Append(out, traits);
}

SendResult PacketSender::Send(std::span<const OutboundDatagram> out, SendBatch& batch) {
  SendResult result;
  std::size_t single_until = 0;        // datagrams before it are sent without segmentation
  std::size_t failed_at = out.size();  // where the last error was
  while (result.taken < out.size()) {
    const bool single = result.taken < single_until;
    const std::size_t end = single ? single_until : out.size();
    Build(out.subspan(result.taken, end - result.taken), traits_.segment && !single, batch);
    const int sent = batch.Flush(fd_);
    if (sent >= 0) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(sent); ++i) {
        result.taken += batch.datagrams(i);
      }
      continue;
    }
    const int error = errno;
    const std::size_t datagrams = batch.datagrams(0);
    if (datagrams > 1 && IsSegmentationError(error)) {
      // EIO: this path cannot checksum segments, so there is no use in trying again.
      if (error == EIO) traits_.segment = false;
      single_until = result.taken + datagrams;
      continue;
    }
    switch (Judge(error, failed_at == result.taken)) {
      case Outcome::kRetry:
        failed_at = result.taken;
        break;
      case Outcome::kBlocked:
        result.blocked = true;
        return result;
      case Outcome::kGivenUp:
        if (error != ENOBUFS) {
          Remember(error, out[result.taken]);
          result.failed = true;
        }
        result.taken += datagrams;
        break;
    }
  }
  return result;
}

PacketSender::Outcome PacketSender::Judge(int error, bool repeated) {
  if (error == EAGAIN || error == EWOULDBLOCK) return Outcome::kBlocked;
  // The interface's queue dropped it: a loss like any other, which congestion control will see.
  if (error == ENOBUFS || error == ENOMEM) return Outcome::kGivenUp;
  // The first time it may be the report of an ICMP error for an earlier packet.
  return repeated ? Outcome::kGivenUp : Outcome::kRetry;
}

void PacketSender::Remember(int error, const OutboundDatagram& datagram) {
  if (failure_count_ == failures_.size()) {
    std::rotate(failures_.begin(), failures_.begin() + 1, failures_.end());
    --failure_count_;
  }
  LocalFailure& failure = failures_[failure_count_++];
  failure.kind = KindOf(error);
  failure.path = datagram.path;
  failure.quoted_bytes = std::min(failure.quoted.size(), datagram.bytes.size());
  std::memcpy(failure.quoted.data(), datagram.bytes.data(), failure.quoted_bytes);
}

}  // namespace dccp
