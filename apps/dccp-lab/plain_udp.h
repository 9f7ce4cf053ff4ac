// UDP without DCCP: what the same sockets carry, to compare with.
#pragma once

#include <cstdint>
#include <string>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

struct PlainUdpSettings {
  IpFamily family = IpFamily::kV4;
  std::uint16_t port = 0;
  std::size_t payload_bytes = 1440;
  Duration duration = std::chrono::seconds(10);
  Duration omit = Duration::zero();
};

// Both are programs of their own, "dccp-lab plain-udp", that print one JSON document. The sender
// sends as fast as the socket takes it, with segmentation offload as in the driver; the receiver
// counts what comes after `omit` until it is interrupted. They return exit codes.
int SendPlainUdp(const PlainUdpSettings& settings);
int ReceivePlainUdp(const PlainUdpSettings& settings);

}  // namespace dccp::apps::lab
