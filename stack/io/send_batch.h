// Message headers for sendmmsg, filled from runs of equal datagrams.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/io/ancillary.h"
#include "stack/io/socket_address.h"

namespace dccp {

// What of a datagram must be said with each message because the socket does not fix it.
struct SendTraits {
  IpFamily family = IpFamily::kV4;
  bool connected = false;    // no destination
  bool with_source = false;  // the socket is bound to no address
  bool segment = false;      // UDP GSO
};

// Scratch memory for one sendmmsg call. Refers to the datagrams' bytes, copies none and allocates
// nothing after construction.
class SendBatch {
 public:
  static constexpr std::size_t kMaxMessages = 64;
  static constexpr std::size_t kMaxIovecs = 1024;
  // The kernel's limits of one segmented send: segments, and bytes of one IPv4 UDP payload.
  static constexpr std::size_t kMaxSegments = 64;
  static constexpr std::size_t kMaxSegmentedBytes = 65507;

  SendBatch();

  void Clear();
  // Appends one message: the first datagram of `out` and, with traits.segment, those after it that
  // can share it. How many it took; 0: the batch is full.
  std::size_t Append(std::span<const OutboundDatagram> out, const SendTraits& traits);

  std::size_t messages() const { return messages_; }
  std::size_t datagrams(std::size_t message) const { return slots_[message].datagrams; }
  // Sends them without blocking; how many messages went, or -1 with errno.
  int Flush(int fd);

 private:
  struct Slot {
    std::size_t datagrams;
    SocketAddress destination;
    alignas(cmsghdr) std::byte control[kSendControlBytes];
  };

  std::vector<Slot> slots_;
  std::vector<mmsghdr> headers_;
  std::vector<iovec> iovecs_;
  std::size_t messages_ = 0;
  std::size_t used_iovecs_ = 0;
};

}  // namespace dccp
