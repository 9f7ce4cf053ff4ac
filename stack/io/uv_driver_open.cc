// Construction, and the opening of sockets.
#include <sys/socket.h>

#include <cerrno>

#include "dccp/openssl_cookie_sealer.h"
#include "stack/io/monotonic_clock.h"
#include "stack/io/raw_socket.h"
#include "stack/io/socket_address.h"
#include "stack/io/tun_socket.h"
#include "stack/io/udp_socket.h"
#include "stack/io/uv_driver_impl.h"

namespace dccp {
namespace {

constexpr std::size_t kSlots = 512;
constexpr std::uint16_t kDiscardPort = 9;

// A client's socket is kept for some time after its last use, to answer a repeated Close; longer
// while a connection that has not been heard of yet may be repeating its Request (every 64 s).
constexpr Duration kIdle = std::chrono::seconds(5);
constexpr Duration kIdleWithConnections = kMsl;

void Fail(DriverError* error, const IoError& io) {
  if (error == nullptr) return;
  error->error = io.errno_value == EADDRINUSE ? Error::kPortInUse : Error::kSystem;
  error->errno_value = io.errno_value;
  error->what = io.what;
}

void Fail(DriverError* error, Error kind, std::string what) {
  if (error != nullptr) *error = {kind, 0, std::move(what)};
}

// The address that packets to `remote` leave from.
bool SourceAddress(const IpAddress& remote, const IpAddress* bind_local, IpAddress* local,
                   IoError* error) {
  UdpSocketOptions probe;
  probe.local.family = remote.family;
  if (bind_local != nullptr) probe.local = *bind_local;
  probe.remote = remote;
  probe.remote_port = kDiscardPort;
  probe.offload = false;
  const std::unique_ptr<UdpSocket> socket = UdpSocket::Open(probe, error);
  if (socket == nullptr) return false;
  *local = socket->path().local;
  return true;
}

}  // namespace

UvDriver::Impl::Impl(uv_loop_t* loop, const UvDriverConfig& config)
    : loop_(loop), config_(config), slots_(kSlots) {
  if (config_.endpoint.random == nullptr) config_.endpoint.random = &random_;
  if (config_.endpoint.mtu == nullptr) config_.endpoint.mtu = &mtu_;
  // No other program shares the addresses behind a TUN device.
  if (native() && !on_tun() && config_.endpoint.port_arbiter == nullptr)
    config_.endpoint.port_arbiter = &port_claims_;
  if (config_.endpoint.cookie_sealer == nullptr) {
    cookie_sealer_ = MakeOpenSslCookieSealer(config_.endpoint.msl);
    config_.endpoint.cookie_sealer = cookie_sealer_.get();
  }
}

UvDriver::Impl::~Impl() = default;

bool UvDriver::Impl::Start(DriverError* error) {
  if (!config_.tun_device.empty() && !native()) {
    Fail(error, Error::kInvalidArgument, "tun_device goes with native encapsulation only");
    return false;
  }
  Result<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(config_.endpoint);
  if (!endpoint.ok()) {
    Fail(error, endpoint.error(), "endpoint configuration");
    return false;
  }
  endpoint_ = std::move(endpoint.value());
  IoError io;
  if (timer_.Open(&io) && StartHandles(&io)) return true;
  Fail(error, io);
  return false;
}

bool UvDriver::Impl::StartHandles(IoError* error) {
  auto timer_poll = std::make_unique<uv_poll_t>();
  const int status = uv_poll_init(loop_, timer_poll.get(), timer_.fd());
  if (status != 0) {
    *error = {-status, "uv_poll_init"};
    return false;
  }
  timer_poll_.reset(timer_poll.release());
  timer_poll_->data = this;
  uv_poll_start(timer_poll_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
    Impl& self = *static_cast<Impl*>(handle->data);
    self.timer_.Acknowledge();
    self.dirty_ = true;
  });
  prepare_.reset(new uv_prepare_t);
  uv_prepare_init(loop_, prepare_.get());
  prepare_->data = this;
  uv_prepare_start(prepare_.get(),
                   [](uv_prepare_t* handle) { static_cast<Impl*>(handle->data)->Work(); });
  check_.reset(new uv_check_t);
  uv_check_init(loop_, check_.get());
  check_->data = this;
  uv_check_start(check_.get(),
                 [](uv_check_t* handle) { static_cast<Impl*>(handle->data)->OnPolled(); });
  idle_.reset(new uv_idle_t);
  uv_idle_init(loop_, idle_.get());
  UvUnref(timer_poll_);
  UvUnref(prepare_);
  UvUnref(check_);
  UvUnref(idle_);
  return true;
}

bool UvDriver::Impl::OpenUdp(const IpAddress& local, std::uint16_t local_port, const Path* to,
                             bool reuse_port, Path* path, IoError* error) {
  UdpSocketOptions options;
  options.local = local;
  options.local_port = local_port;
  options.reuse_port = reuse_port;
  options.offload = config_.offload;
  options.buffer_bytes = config_.socket_buffer_bytes;
  if (to != nullptr) {
    options.remote = to->remote;
    options.remote_port = to->remote_udp_port;
  }
  std::unique_ptr<UdpSocket> socket = UdpSocket::Open(options, error);
  if (socket == nullptr) return false;
  const Path bound = socket->path();
  auto polled = PolledSocket::Watch(loop_, std::move(socket), bound, to != nullptr, *this, error);
  if (polled == nullptr) return false;
  sockets_.Add(std::move(polled));
  *path = bound;
  return true;
}

// One raw socket a family serves all paths: a second one would receive each packet again.
bool UvDriver::Impl::OpenRaw(IpFamily family, IoError* error) {
  Path any;
  any.local.family = family;
  if (sockets_.Find(any) != nullptr) return true;
  std::unique_ptr<RawSocket> socket = RawSocket::Open(family, config_.socket_buffer_bytes, error);
  if (socket == nullptr) return false;
  auto polled = PolledSocket::Watch(loop_, std::move(socket), any, false, *this, error);
  if (polled == nullptr) return false;
  sockets_.Add(std::move(polled));
  UpdateFilters();
  return true;
}

void UvDriver::Impl::UpdateFilters() {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    Path any;
    any.local.family = family;
    PolledSocket* socket = sockets_.Find(any);
    if (socket != nullptr) socket->socket().SetFilter(native_filter_.Program(family));
  }
}

bool UvDriver::Impl::OpenTun(IoError* error) {
  Path any;
  if (sockets_.Find(any) != nullptr) return true;
  std::unique_ptr<TunSocket> socket = TunSocket::Open(config_.tun_device, error);
  if (socket == nullptr) return false;
  mtu_.Fix(socket->mtu_bytes());
  auto polled = PolledSocket::Watch(loop_, std::move(socket), any, false, *this, error);
  if (polled == nullptr) return false;
  sockets_.ServeBothFamilies(sockets_.Add(std::move(polled)));
  return true;
}

bool UvDriver::Impl::OpenNative(IpFamily family, IoError* error) {
  return on_tun() ? OpenTun(error) : OpenRaw(family, error);
}

bool UvDriver::Impl::OpenPath(const IpAddress& remote, std::uint16_t remote_udp_port,
                              const IpAddress* bind_local, Path* path, DriverError* error) {
  if (remote.IsUnspecified() || remote.IsMulticastOrBroadcast() ||
      (!native() && remote_udp_port == 0)) {
    Fail(error, Error::kInvalidArgument,
         "remote " + SocketAddress(remote, remote_udp_port).ToString());
    return false;
  }
  IpAddress local;
  local.family = remote.family;
  if (bind_local != nullptr) local = *bind_local;
  if (local.family != remote.family) {
    Fail(error, Error::kInvalidArgument, "local address of another family");
    return false;
  }
  if (on_tun() && local.IsUnspecified()) {
    Fail(error, Error::kInvalidArgument, "a path through a TUN device needs a local address");
    return false;
  }
  sockets_.CloseAbandoned(*endpoint_, MonotonicClock::Now(),
                          endpoint_->ActiveConnections() == 0 ? kIdle : kIdleWithConnections);
  Path to;
  to.local = local;
  to.remote = remote;
  to.remote_udp_port = native() ? std::uint16_t{0} : remote_udp_port;
  IoError io;
  const bool opened = native() ? (on_tun() || SourceAddress(remote, bind_local, &to.local, &io)) &&
                                     OpenNative(remote.family, &io)
                               : OpenUdp(local, 0, &to, false, &to, &io);
  if (!opened) {
    Fail(error, io);
    return false;
  }
  if (native()) native_filter_.AddPath(to.local);
  *path = to;
  // Until the connection exists nothing else keeps the loop alive.
  uv_ref(reinterpret_cast<uv_handle_t*>(timer_poll_.get()));
  return true;
}

bool UvDriver::Impl::OpenServer(const IpAddress& local, std::uint16_t udp_port, bool reuse_port,
                                DriverError* error) {
  if (on_tun() && local.IsUnspecified()) {
    Fail(error, Error::kInvalidArgument, "a server on a TUN device needs a local address");
    return false;
  }
  IoError io;
  Path bound;
  const bool opened = native() ? OpenNative(local.family, &io)
                               : OpenUdp(local, udp_port, nullptr, reuse_port, &bound, &io);
  if (!opened) {
    Fail(error, io);
    return false;
  }
  if (native()) {
    native_filter_.AddServer(local);
    UpdateFilters();
  }
  return true;
}

}  // namespace dccp
