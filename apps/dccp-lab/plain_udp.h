// UDP without DCCP: what the same sockets carry, to compare with.
#pragma once

#include <cstdint>
#include <string>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

struct PlainUdpSettings {
  IpFamily family = IpFamily::kV4;
  std::string address;  // of the receiver; empty: loopback
  std::uint16_t port = 0;
  double packets_per_second = 0;  // 0: as many as the socket takes
  std::size_t payload_bytes = 1440;
  Duration duration = std::chrono::seconds(10);
  Duration omit = Duration::zero();
};

// Both are programs of their own, "dccp-lab plain-udp", that print one JSON document, and return
// exit codes. The sender uses segmentation offload as the driver does; the receiver counts what
// comes after `omit` until it is interrupted and nothing waits any more. "total_packets" has what
// was omitted too.
int SendPlainUdp(const PlainUdpSettings& settings);
int ReceivePlainUdp(const PlainUdpSettings& settings);

}  // namespace dccp::apps::lab
