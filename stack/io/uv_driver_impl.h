// The inside of UvDriver.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dccp/cookie_sealer.h"
#include "dccp/uv_driver.h"
#include "stack/io/error_batch.h"
#include "stack/io/interface_mtu.h"
#include "stack/io/io_error.h"
#include "stack/io/native_filter.h"
#include "stack/io/os_random.h"
#include "stack/io/polled_socket.h"
#include "stack/io/port_claims.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/socket_table.h"
#include "stack/io/timer_fd.h"
#include "stack/io/uv_handle.h"

namespace dccp {

// Moves packets between sockets and the endpoint in the order that endpoint.h asks for. Poll
// callbacks only read; the work is done once an iteration, after polling (if it brought anything)
// and before blocking (the application may have called the endpoint from callbacks of its own).
// Timers expire only after polling: when the program stood still, the acknowledgement that a timer
// waits for may be in the socket, and has to be read before the timer is believed.
// Each step is bounded, so that the loop's other handles get their turn; what is left is done in
// the next iteration, before which the loop does not block.
class UvDriver::Impl final : public PolledSocket::Listener {
 public:
  Impl(uv_loop_t* loop, const UvDriverConfig& config);
  ~Impl() override;

  bool Start(DriverError* error);
  Endpoint& endpoint() { return *endpoint_; }
  bool OpenPath(const IpAddress& remote, std::uint16_t remote_udp_port, const IpAddress* bind_local,
                Path* path, DriverError* error);
  bool OpenServer(const IpAddress& local, std::uint16_t udp_port, bool reuse_port,
                  DriverError* error);
  void SetEventHandler(std::function<void(const Event&)> handler) { handler_ = std::move(handler); }
  void Ref();
  void Unref();

 private:
  bool StartHandles(IoError* error);
  bool native() const { return config_.endpoint.encapsulation == Encapsulation::kNative; }
  bool OpenUdp(const IpAddress& local, std::uint16_t local_port, const Path* to, bool reuse_port,
               Path* path, IoError* error);
  // The socket of protocol 33: on the TUN device where one is asked for, else raw.
  bool OpenNative(IpFamily family, IoError* error);
  bool OpenRaw(IpFamily family, IoError* error);
  bool OpenTun(IoError* error);
  void UpdateFilters();
  bool on_tun() const { return native() && !config_.tun_device.empty(); }

  void OnSocket(PolledSocket& socket, int status, int events) override;
  void ReadPackets(PolledSocket& socket);
  void ReadErrors(PolledSocket& socket);

  void OnPolled();
  void Work();
  bool DispatchEvents();
  void NoteConnection(const Event& event);
  bool Transmit(TimePoint now);
  void FlushPending(TimePoint now);
  // Sends the front of `run`; how many need no more attention.
  std::size_t SendRun(std::span<const OutboundDatagram> run, TimePoint now);
  void Schedule(bool unfinished);
  void UpdateLoopReference();

  uv_loop_t* loop_;
  UvDriverConfig config_;
  OsRandom random_;
  InterfaceMtu mtu_;
  PortClaims port_claims_;
  std::unique_ptr<CookieSealer> cookie_sealer_;
  std::unique_ptr<Endpoint> endpoint_;
  std::function<void(const Event&)> handler_;

  TimerFd timer_;
  UvHandle<uv_poll_t> timer_poll_;  // the one handle that keeps the loop alive
  UvHandle<uv_prepare_t> prepare_;
  UvHandle<uv_check_t> check_;
  UvHandle<uv_idle_t> idle_;  // active: the loop does not block
  SocketTable sockets_;
  NativeFilter native_filter_;

  RecvBatch received_;
  SendBatch send_;
  ErrorBatch errors_;
  std::vector<OutboundDatagram> slots_;
  std::size_t pending_ = 0;  // datagrams at the front of slots_ that wait for a socket

  std::uint32_t refs_ = 0;
  bool working_ = false;
  bool dirty_ = false;    // this iteration's polling brought something
  bool excused_ = false;  // the timers of the last iteration were left to this one
};

}  // namespace dccp
