// Cuts what a kernel handed over in one piece into the packets that it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/dccp-netem/frame.h"

namespace dccp::apps::netem {

// A frame that is larger than the wire allows, because its kernel left segmentation to the hardware
// (TSO, UDP GSO) or had joined received packets (GRO): each of its segments is a packet that a path
// may lose or delay. TCP and UDP, without IPv6 extension headers.
class Segments {
 public:
  // `segment_bytes`: payload of each but the last. The frame must stay where it is.
  Segments(std::span<const std::byte> frame, std::size_t segment_bytes);

  // It can be cut; where not, it is to be passed as it is.
  bool valid() const { return count_ != 0; }
  std::size_t count() const { return count_; }
  std::size_t bytes(std::size_t i) const { return headers_ + PayloadBytes(i); }
  // Writes segment `i`, bytes(i) long, with all lengths and checksums.
  void Write(std::size_t i, std::span<std::byte> out) const;

 private:
  std::size_t PayloadBytes(std::size_t i) const;

  std::span<const std::byte> frame_;
  FrameInfo info_;
  std::size_t segment_bytes_;
  std::size_t transport_ = 0;  // offset of the TCP or UDP header
  std::size_t headers_ = 0;    // bytes of all headers
  std::size_t payload_ = 0;
  std::size_t count_ = 0;
};

}  // namespace dccp::apps::netem
