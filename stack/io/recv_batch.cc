#include "stack/io/recv_batch.h"

#include <algorithm>
#include <cerrno>

namespace dccp {

RecvBatch::RecvBatch(std::size_t messages)
    : memory_(std::make_unique_for_overwrite<std::byte[]>(messages * kBufferBytes)),
      slots_(messages),
      headers_(messages),
      limit_(std::min(messages, kLargeMessages)) {
  datagrams_.reserve(messages);
  for (std::size_t i = 0; i < messages; ++i) {
    slots_[i].buffer = {memory_.get() + i * kBufferBytes, kBufferBytes};
    Prepare(i);
  }
}

void RecvBatch::Prepare(std::size_t i) {
  msghdr& header = headers_[i].msg_hdr;
  header.msg_name = slots_[i].source.get();
  header.msg_namelen = SocketAddress::Capacity();
  header.msg_iov = &slots_[i].buffer;
  header.msg_iovlen = 1;
  header.msg_control = slots_[i].control;
  header.msg_controllen = sizeof(slots_[i].control);
  header.msg_flags = 0;
}

int RecvBatch::Fill(int fd) {
  datagrams_.clear();
  for (std::size_t i = 0; i < used_; ++i) Prepare(i);
  used_ = 0;
  asked_ = limit_;
  int count = 0;
  do {
    count = ::recvmmsg(fd, headers_.data(), static_cast<unsigned>(asked_), MSG_DONTWAIT, nullptr);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return count;
  used_ = static_cast<std::size_t>(count);
  std::size_t total = 0;
  for (std::size_t i = 0; i < used_; ++i) total += headers_[i].msg_len;
  const bool large = total / used_ >= kLargeBytes;
  limit_ = large ? std::min(kLargeMessages, headers_.size()) : headers_.size();
  return count;
}

std::span<const std::byte> RecvBatch::bytes(std::size_t i) const {
  return {memory_.get() + i * kBufferBytes, headers_[i].msg_len};
}

}  // namespace dccp
