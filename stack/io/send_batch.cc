#include "stack/io/send_batch.h"

#include <algorithm>
#include <cerrno>

namespace dccp {
namespace {

// Datagrams at the front of `out` that one segmented send carries: one path, ECN field and size,
// only the last of them shorter.
std::size_t SegmentRun(std::span<const OutboundDatagram> out, std::size_t limit) {
  const OutboundDatagram& first = out.front();
  const std::size_t size = first.bytes.size();
  if (first.may_fragment || size == 0) return 1;
  limit = std::min(limit, out.size());
  std::size_t count = 1;
  for (std::size_t total = size; count < limit; ++count) {
    const OutboundDatagram& next = out[count];
    const std::size_t next_size = next.bytes.size();
    total += next_size;
    if (next_size > size || next_size == 0 || total > SendBatch::kMaxSegmentedBytes) break;
    if (next.ecn != first.ecn || next.may_fragment || !(next.path == first.path)) break;
    if (next_size < size) return count + 1;
  }
  return count;
}

}  // namespace

SendBatch::SendBatch() : slots_(kMaxMessages), headers_(kMaxMessages), iovecs_(kMaxIovecs) {}

void SendBatch::Clear() {
  messages_ = 0;
  used_iovecs_ = 0;
}

std::size_t SendBatch::Append(std::span<const OutboundDatagram> out, const SendTraits& traits) {
  if (messages_ == kMaxMessages || used_iovecs_ == kMaxIovecs || out.empty()) return 0;
  const OutboundDatagram& first = out.front();
  const std::size_t count =
      traits.segment ? SegmentRun(out, std::min(kMaxSegments, kMaxIovecs - used_iovecs_)) : 1;

  Slot& slot = slots_[messages_];
  slot.datagrams = count;
  msghdr& header = headers_[messages_].msg_hdr;
  header = {};
  header.msg_iov = &iovecs_[used_iovecs_];
  header.msg_iovlen = count;
  for (const OutboundDatagram& datagram : out.first(count)) {
    // The kernel only reads through the pointer that sendmsg wants mutable.
    iovecs_[used_iovecs_++] = {const_cast<std::byte*>(datagram.bytes.data()),
                               datagram.bytes.size()};
  }

  AncillaryWriter control(slot.control);
  if (first.ecn != Ecn::kNotEct) control.PutEcn(traits.family, first.ecn);
  if (traits.with_source && !first.path.local.IsUnspecified()) control.PutSource(first.path.local);
  if (count > 1) control.PutSegmentBytes(static_cast<std::uint16_t>(first.bytes.size()));
  if (control.size() > 0) {
    header.msg_control = slot.control;
    header.msg_controllen = control.size();
  }
  if (!traits.connected) {
    slot.destination = SocketAddress(first.path.remote, first.path.remote_udp_port);
    header.msg_name = slot.destination.get();
    header.msg_namelen = slot.destination.size();
  }
  ++messages_;
  return count;
}

int SendBatch::Flush(int fd) {
  int sent = 0;
  do {
    sent = ::sendmmsg(fd, headers_.data(), static_cast<unsigned>(messages_), MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace dccp
