// The part of NativeFilter that the kernel can run: a classic BPF program for a raw socket.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/types.h"

namespace dccp {

// More ports than this make the program longer than it saves.
inline constexpr std::size_t kMaxProgramPorts = 32;

// Drops, before it is copied to the socket, what NativeFilter would refuse by its ports; what it
// would take passes, and so does what is too short to tell, which has to be counted. Over loopback
// that is everything the program itself sends: it would fill the socket's buffer, and the peer's
// packets would be lost. `ports`: those that were sent from, kMaxProgramPorts at most.
std::vector<sock_filter> NativeProgram(IpFamily family, std::span<const std::uint16_t> ports,
                                       bool server);

}  // namespace dccp
