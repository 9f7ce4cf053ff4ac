// What the driver needs of a socket, whichever encapsulation it carries.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>

#include "dccp/endpoint.h"

namespace dccp {

class ErrorBatch;
class RecvBatch;
class SendBatch;

struct ReceiveResult {
  bool more = false;          // the batch was filled: packets may still wait
  bool failed = false;        // nothing could be read; the error queue may say why
  bool errors = false;        // ICMP errors came with the packets: ReadErrors() tells
  std::size_t too_short = 0;  // datagrams below the minimum length, dropped
};

struct SendResult {
  std::size_t taken = 0;  // datagrams that need no further attention: sent, or given up
  bool blocked = false;   // the socket buffer is full; wait until it is writable
  bool failed = false;    // some were given up: ReadErrors() tells
};

// A non-blocking socket that moves packets in batches. The batches are scratch memory that all
// sockets of a thread share; what they hold is valid until their next use.
class PacketSocket {
 public:
  virtual ~PacketSocket() = default;

  virtual int fd() const = 0;
  // Replaces the contents of `batch` by what waits, as far as it has room.
  virtual ReceiveResult Receive(RecvBatch& batch) = 0;
  virtual SendResult Send(std::span<const OutboundDatagram> out, SendBatch& batch) = 0;
  // Replaces the contents of `batch`; true if there may be more.
  virtual bool ReadErrors(ErrorBatch& batch) = 0;
  // A BPF program that drops what nobody will want, or none; where the socket has no use for one it
  // is ignored, since the driver looks at every packet itself.
  virtual void SetFilter(std::span<const sock_filter> /*program*/) {}
};

}  // namespace dccp
