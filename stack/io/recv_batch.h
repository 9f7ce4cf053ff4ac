// Receive buffers and message headers for recvmmsg.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/io/ancillary.h"
#include "stack/io/socket_address.h"

namespace dccp {

// Owns the memory that packets are received into, 64 KiB a message, so that whole UDP GRO
// aggregates fit; nothing is allocated afterwards and untouched pages cost nothing. The datagrams
// it lists point into it and are valid until the next Fill().
class RecvBatch {
 public:
  static constexpr std::size_t kBufferBytes = 65536;
  static constexpr std::size_t kDefaultMessages = 64;
  // Of large aggregates fewer are taken at a time, so that what is read is still in the cache when
  // it is parsed.
  static constexpr std::size_t kLargeMessages = 8;
  static constexpr std::size_t kLargeBytes = 16384;

  explicit RecvBatch(std::size_t messages = kDefaultMessages);

  // Receives without blocking; how many messages came, or -1 with errno.
  int Fill(int fd);
  // The last Fill() got all that it had asked for, so more may wait.
  bool full() const { return used_ == asked_; }

  // Of message `i` of the last Fill().
  std::span<const std::byte> bytes(std::size_t i) const;
  const SocketAddress& source(std::size_t i) const { return slots_[i].source; }
  Ancillary ancillary(std::size_t i) const { return ParseAncillary(headers_[i].msg_hdr); }

  // For a device that is read packet by packet: memory to read into, and no messages.
  void Clear() { datagrams_.clear(); }
  std::size_t capacity() const { return slots_.size(); }
  std::span<std::byte> buffer(std::size_t i) {
    return {memory_.get() + i * kBufferBytes, kBufferBytes};
  }

  // The result, written by the socket.
  void Add(const InboundDatagram& datagram) { datagrams_.push_back(datagram); }
  std::span<const InboundDatagram> datagrams() const { return datagrams_; }
  template <typename Predicate>
  std::size_t RemoveIf(Predicate unwanted) {
    return std::erase_if(datagrams_, unwanted);
  }

 private:
  struct Slot {
    iovec buffer;
    SocketAddress source;
    alignas(cmsghdr) std::byte control[kReceiveControlBytes];
  };
  void Prepare(std::size_t i);

  std::unique_ptr<std::byte[]> memory_;
  std::vector<Slot> slots_;
  std::vector<mmsghdr> headers_;
  std::vector<InboundDatagram> datagrams_;
  std::size_t limit_;      // messages that the next Fill() asks for
  std::size_t asked_ = 0;  // and the last one did
  std::size_t used_ = 0;
};

}  // namespace dccp
