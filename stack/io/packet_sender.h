// The sending half of a socket: batches, segmentation, and what to do about each errno.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/endpoint.h"
#include "stack/io/packet_socket.h"
#include "stack/io/send_batch.h"

namespace dccp {

// A datagram that the kernel refused at once: the same news as an ICMP error, without a packet.
struct LocalFailure {
  IcmpKind kind = IcmpKind::kHostUnreachable;
  Path path;
  std::array<std::byte, 64> quoted = {};
  std::size_t quoted_bytes = 0;
};

// Sends datagrams of one socket with as few system calls as possible. Datagrams that the kernel
// refuses for good are given up as if lost, and remembered as failures (the newest few); a full
// socket buffer leaves the rest to the caller. Falls back to single datagrams where segmentation
// fails. Keeps the DF rule: IP_PMTUDISC_PROBE, but fragments may_fragment datagrams. RFC 4340 §14.2
class PacketSender {
 public:
  PacketSender(int fd, const SendTraits& traits) : fd_(fd), traits_(traits) {}

  SendResult Send(std::span<const OutboundDatagram> out, SendBatch& batch);
  bool segments() const { return traits_.segment; }

  std::span<const LocalFailure> failures() const { return {failures_.data(), failure_count_}; }
  void ClearFailures() { failure_count_ = 0; }

 private:
  enum class Outcome { kRetry, kBlocked, kGivenUp };

  void Build(std::span<const OutboundDatagram> out, bool segment, SendBatch& batch);
  static Outcome Judge(int error, bool repeated);
  void Remember(int error, const OutboundDatagram& datagram);
  void AllowFragments(bool allow);

  int fd_;
  SendTraits traits_;
  bool fragments_ = false;
  std::array<LocalFailure, 8> failures_;
  std::size_t failure_count_ = 0;
};

}  // namespace dccp
