// Packets for an endpoint: such as no peer would send, and such as a good one would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dccp/types.h"
#include "stack/wire/packet_view.h"
#include "tests/fuzz/fuzz_input.h"

namespace dccp::fuzz {

// What one remote end knows of its flow with an endpoint.
struct Flow {
  Path path;  // as the endpoint sees it
  std::uint16_t endpoint_port = 0;
  std::uint16_t port = 0;
  std::uint64_t next = 5000;    // our next sequence number
  std::uint64_t gss = 0;        // the endpoint's newest
  std::vector<std::byte> last;  // its last packet; empty: none
};

// Bytes choose every field; the numbers are near those of the flow more often than not. The
// checksum of a native packet is good unless bytes want it otherwise.
std::vector<std::byte> MakePacket(FuzzInput& input, Flow& flow, Encapsulation encapsulation);

// What a good peer answers to the flow's last packet, with Confirms for all its Changes. Empty: it
// would not answer.
std::vector<std::byte> MakeReply(Flow& flow, Encapsulation encapsulation);

}  // namespace dccp::fuzz
