// A batched raw socket of IP protocol 33. RFC 4340 §19.1
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dccp/endpoint.h"
#include "stack/io/io_error.h"
#include "stack/io/packet_sender.h"
#include "stack/io/packet_socket.h"
#include "stack/io/unique_fd.h"

namespace dccp {

// True where the running kernel speaks DCCP itself: it would answer packets of ours with Resets.
bool KernelSpeaksDccp();

// Receives every packet of protocol 33 that reaches this host in one family, including, over
// loopback, those it sent itself: the owner must tell what is meant for it. IP headers are removed.
// Needs CAP_NET_RAW. The DCCP checksum is the core's business.
class RawSocket final : public PacketSocket {
 public:
  static std::unique_ptr<RawSocket> Open(IpFamily family, std::uint32_t buffer_bytes,
                                         IoError* error);

  int fd() const override { return fd_.get(); }
  ReceiveResult Receive(RecvBatch& batch) override;
  SendResult Send(std::span<const OutboundDatagram> out, SendBatch& batch) override;
  bool ReadErrors(ErrorBatch& batch) override;
  void SetFilter(std::span<const sock_filter> program) override;

 private:
  RawSocket(UniqueFd fd, IpFamily family);

  UniqueFd fd_;
  IpFamily family_;
  PacketSender sender_;
};

}  // namespace dccp
