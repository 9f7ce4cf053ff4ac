// A batched UDP socket that carries DCCP-UDP. RFC 6773 §3
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dccp/endpoint.h"
#include "stack/io/io_error.h"
#include "stack/io/packet_sender.h"
#include "stack/io/packet_socket.h"
#include "stack/io/unique_fd.h"

namespace dccp {

struct UdpSocketOptions {
  IpAddress local;                  // family, and the address to bind; unspecified: any
  std::uint16_t local_port = 0;     // 0: the kernel chooses
  std::optional<IpAddress> remote;  // connect to it: only its packets and errors are received
  std::uint16_t remote_port = 0;
  bool reuse_port = false;
  bool offload = true;  // UDP GSO and GRO where the kernel has them
  std::uint32_t buffer_bytes = 4u << 20;
};

// Receives with recvmmsg and GRO, sends with sendmmsg and GSO, both with ECN bits and the local
// address of each packet. Datagrams whose UDP Length is below 20 are dropped and counted
// (RFC 6773 §3.3); the kernel has verified the checksum.
class UdpSocket final : public PacketSocket {
 public:
  static std::unique_ptr<UdpSocket> Open(const UdpSocketOptions& options, IoError* error);

  int fd() const override { return fd_.get(); }
  ReceiveResult Receive(RecvBatch& batch) override;
  SendResult Send(std::span<const OutboundDatagram> out, SendBatch& batch) override;
  bool ReadErrors(ErrorBatch& batch) override;

  // Local address and port; the remote ones too when connected.
  const Path& path() const { return path_; }
  bool segments() const { return sender_.segments(); }
  bool coalesces() const { return gro_; }

 private:
  UdpSocket(UniqueFd fd, const Path& path, const SendTraits& traits, bool gro);

  UniqueFd fd_;
  Path path_;
  bool connected_;
  bool any_local_;
  bool gro_;
  PacketSender sender_;
};

}  // namespace dccp
