// Socket options that both kinds of socket set.
#pragma once

#include <cstdint>

#include "dccp/types.h"

namespace dccp {

bool SetIntOption(int fd, int level, int name, int value);

// False: DF on every packet, and only the interface's MTU bounds its size (the core probes and
// judges ICMP itself). True: no DF, the kernel fragments. RFC 4340 §14.2
bool SetFragmentation(int fd, IpFamily family, bool fragment);

// ECN bits, the local address (where `local_address`) and errors are reported with packets; the
// buffers are as large as asked or as the system allows. False with errno set.
bool SetCommonOptions(int fd, IpFamily family, bool local_address, std::uint32_t buffer_bytes);

}  // namespace dccp
