// Native DCCP on a TUN device, with an address of its own beside the kernel's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stack/io/error_batch.h"
#include "stack/io/io_error.h"
#include "stack/io/ip_header.h"
#include "stack/io/packet_socket.h"
#include "stack/io/unique_fd.h"

namespace dccp {

// Where the kernel speaks DCCP itself, a raw socket is of no use: the kernel answers as well.
// Behind a TUN device the stack is a host of its own, which the kernel routes to. Serves both
// families.
//
// A character device has neither batches nor an error queue: one system call a packet, and ICMP
// errors come as packets. Answers nothing but DCCP; no ping.
class TunSocket final : public PacketSocket {
 public:
  // `name`: of a device that exists and is up. Null on failure.
  static std::unique_ptr<TunSocket> Open(const std::string& name, IoError* error);

  int fd() const override { return fd_.get(); }
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }
  ReceiveResult Receive(RecvBatch& batch) override;
  SendResult Send(std::span<const OutboundDatagram> out, SendBatch& batch) override;
  bool ReadErrors(ErrorBatch& batch) override;

 private:
  static constexpr std::size_t kMaxErrors = 8;
  struct KeptError {
    IcmpError error;
    std::array<std::byte, ErrorBatch::kQuoteBytes> quote;
  };

  TunSocket(UniqueFd fd, std::uint32_t mtu_bytes);
  void Keep(const IcmpError& error);

  UniqueFd fd_;
  std::uint32_t mtu_bytes_;
  std::uint16_t next_id_ = 0;  // of IPv4 packets that may be fragmented
  std::vector<KeptError> kept_;
};

}  // namespace dccp
