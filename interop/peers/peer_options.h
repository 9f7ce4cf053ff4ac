// What stack_peer is asked for on its command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "dccp/time.h"
#include "dccp/types.h"
#include "dccp/uv_driver.h"

namespace dccp::interop {

struct PeerOptions {
  bool server = false;
  IpAddress address;  // the server's
  std::uint16_t port = 0;
  std::string tun;
  IpAddress bind;
  bool has_bind = false;
  std::vector<CcidId> ccids;
  std::uint32_t service = 1;
  std::int64_t send = 0;   // datagrams; -1: until `seconds` are over
  std::uint32_t size = 0;  // 0: the largest that the path takes
  double rate = 0;         // datagrams a second, 0: as fast as they are taken
  Duration seconds = Duration::zero();
  Duration pause = Duration::zero();  // before the first datagram
  Duration omit = Duration::zero();   // left out of the figures
  Duration wait = std::chrono::seconds(20);
  Duration connect_wait = std::chrono::seconds(30);
  Duration quiet = std::chrono::milliseconds(300);
  Duration user_timeout = Duration::zero();
  Duration keep_alive = Duration::zero();
  Duration linger = std::chrono::milliseconds(300);  // answers so long after the end
  bool expect = false;                               // the other end sends too
  bool icmp_only = false;                            // no probes for the path's MTU
  bool timewait = false;
  unsigned coverage = 0;
  std::uint64_t sequence_window = 100;
};

// False, with a message on the standard error, when the command line makes no sense.
bool ParsePeerOptions(int argc, char** argv, PeerOptions* out, int* exit_code);

}  // namespace dccp::interop
