// Runs an Endpoint on a libuv loop that the application owns.
//
// The driver owns the sockets (one UDP socket a client path and a listening address, or raw sockets
// of protocol 33, or a TUN device) and a timerfd. Before the loop blocks it transmits whatever is
// queued, so an application just calls Endpoint functions. Thread rule: the loop's thread only. RFC
// 6773 §3.8
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dccp/endpoint.h"
#include "dccp/export.h"

namespace dccp {

// A failure with the operating system's reason: `error` is Error::kSystem or a plain one,
// `errno_value` 0 where there is none, `what` names the call or field ("bind 0.0.0.0:6511").
struct DriverError {
  Error error = Error::kSystem;
  int errno_value = 0;
  std::string what;
};

struct UvDriverConfig {
  // random, mtu, cookie_sealer and port_arbiter may stay null: the driver supplies its own
  EndpointConfig endpoint;
  bool offload = true;  // UDP GSO and GRO where the kernel has them
  std::uint32_t socket_buffer_bytes = 4u << 20;
  // Native mode only: go through this TUN device, which exists and is up, instead of a raw socket,
  // with addresses that the kernel routes to it and that are not the kernel's own. For kernels that
  // speak DCCP themselves, and for tests. Paths and servers must then name their local address.
  std::string tun_device;
};

class DCCP_EXPORT UvDriver {
 public:
  // Null on failure, with `*error` filled. `loop` must outlive the driver.
  static std::unique_ptr<UvDriver> Create(uv_loop_t* loop, const UvDriverConfig& config,
                                          DriverError* error);
  // Closes the sockets at once. Handles are closed through the loop: run it once more before
  // uv_loop_close().
  ~UvDriver();
  UvDriver(const UvDriver&) = delete;
  UvDriver& operator=(const UvDriver&) = delete;

  Endpoint& endpoint();
  TimePoint now();  // CLOCK_MONOTONIC, read anew

  // Opens a path for Connect(): a socket with a kernel-chosen port bound for `remote`.
  // `remote_udp_port` is ignored in native mode. Call it before uv_run(): the socket keeps the loop
  // alive until the connection exists.
  bool OpenPath(const IpAddress& remote, std::uint16_t remote_udp_port, const IpAddress* bind_local,
                Path* path, DriverError* error);
  // Receives for listeners on `local` (unspecified: any) and, in DCCP-UDP, `udp_port` (not 0). IPv6
  // sockets take IPv6 only: for both families call it twice.
  bool OpenServer(const IpAddress& local, std::uint16_t udp_port, bool reuse_port,
                  DriverError* error);

  // Called on the loop's thread for each event. It may call any Endpoint function, but neither
  // destroy the driver nor set another handler.
  void SetEventHandler(std::function<void(const Event&)> handler);

  // While at least one is held the loop stays alive even without connections (a server).
  // A client's loop ends by itself when its connections have ended.
  void Ref();
  void Unref();

 private:
  class DCCP_HIDDEN Impl;
  explicit UvDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "1.2.3.4", "::1", "fe80::1%eth0"; false on anything else (no name look-up).
DCCP_EXPORT bool ParseAddress(std::string_view text, IpAddress* out);
DCCP_EXPORT std::string FormatAddress(const IpAddress& address);

}  // namespace dccp
