// Control messages that travel beside a datagram: ECN bits, local address, segment size, errors.
#pragma once

// linux/errqueue.h uses timespec without declaring it.
#include <time.h>

#include <linux/errqueue.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// What a received message's control data said.
struct Ancillary {
  Ecn ecn = Ecn::kNotEct;
  std::uint32_t segment_bytes = 0;  // UDP GRO; 0: one datagram
  std::optional<IpAddress> local;   // destination address of the packet
  // When the kernel received it, since the epoch, where the socket asked for SO_TIMESTAMPNS.
  std::optional<Duration> received;
  std::optional<sock_extended_err> error;
};
Ancillary ParseAncillary(const msghdr& message);

// Room for all that Ancillary holds.
inline constexpr std::size_t kReceiveControlBytes = 256;

// Writes control messages into a buffer of kSendControlBytes, in which all of them fit.
class AncillaryWriter {
 public:
  explicit AncillaryWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  void PutEcn(IpFamily family, Ecn ecn);
  void PutSource(const IpAddress& source);
  void PutSegmentBytes(std::uint16_t segment_bytes);
  std::size_t size() const { return used_; }

 private:
  void Put(int level, int type, const void* data, std::size_t bytes);

  std::span<std::byte> buffer_;
  std::size_t used_ = 0;
};
inline constexpr std::size_t kSendControlBytes = 96;

}  // namespace dccp
