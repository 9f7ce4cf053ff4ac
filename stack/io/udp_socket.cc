#include "stack/io/udp_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <cerrno>

#include "stack/io/error_batch.h"
#include "stack/io/recv_batch.h"
#include "stack/io/socket_address.h"
#include "stack/io/socket_options.h"

namespace dccp {
namespace {

// UDP Length 20 less the UDP header. RFC 6773 §3.3
constexpr std::size_t kMinBytes = 12;

bool BindAndConnect(int fd, const UdpSocketOptions& options, IoError* error) {
  const SocketAddress local(options.local, options.local_port);
  if (::bind(fd, local.get(), local.size()) != 0) {
    SetIoError(error, "bind " + local.ToString());
    return false;
  }
  if (!options.remote) return true;
  const SocketAddress remote(*options.remote, options.remote_port);
  if (::connect(fd, remote.get(), remote.size()) != 0) {
    SetIoError(error, "connect " + remote.ToString());
    return false;
  }
  return true;
}

// Drops segments below the minimum; how many. With GRO only the last one can differ in size.
std::size_t TrimShort(InboundDatagram* datagram) {
  const std::size_t size = datagram->bytes.size();
  const std::size_t segment = datagram->segment_bytes;
  if (segment == 0 || segment >= size) {
    datagram->segment_bytes = 0;
    if (size >= kMinBytes) return 0;
    datagram->bytes = {};
    return 1;
  }
  if (segment < kMinBytes) {
    datagram->bytes = {};
    return (size + segment - 1) / segment;
  }
  const std::size_t tail = size % segment;
  if (tail == 0 || tail >= kMinBytes) return 0;
  datagram->bytes = datagram->bytes.first(size - tail);
  return 1;
}

}  // namespace

std::unique_ptr<UdpSocket> UdpSocket::Open(const UdpSocketOptions& options, IoError* error) {
  const IpFamily family = options.local.family;
  UniqueFd fd(::socket(AddressFamily(family), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    SetIoError(error, "UDP socket");
    return nullptr;
  }
  const bool any_local = options.local.IsUnspecified() && !options.remote;
  const bool own_family =
      family == IpFamily::kV4 || SetIntOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (!own_family || !SetCommonOptions(fd.get(), family, any_local, options.buffer_bytes)) {
    SetIoError(error, "UDP socket options");
    return nullptr;
  }
  if (options.reuse_port && !SetIntOption(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1)) {
    SetIoError(error, "SO_REUSEPORT");
    return nullptr;
  }
  if (!BindAndConnect(fd.get(), options, error)) return nullptr;

  SocketAddress bound;
  if (!bound.AssignLocal(fd.get())) {
    SetIoError(error, "getsockname");
    return nullptr;
  }
  Path path;
  path.local = bound.address();
  path.local_udp_port = bound.port();
  if (options.remote) {
    path.remote = *options.remote;
    path.remote_udp_port = options.remote_port;
  } else {
    path.remote.family = family;
  }
  SendTraits traits;
  traits.family = family;
  traits.connected = options.remote.has_value();
  traits.with_source = any_local;
  // Segmentation per message; setting it off for the socket as a whole tells whether it exists.
  traits.segment = options.offload && SetIntOption(fd.get(), IPPROTO_UDP, UDP_SEGMENT, 0);
  const bool gro = options.offload && SetIntOption(fd.get(), IPPROTO_UDP, UDP_GRO, 1);
  return std::unique_ptr<UdpSocket>(new UdpSocket(std::move(fd), path, traits, gro));
}

UdpSocket::UdpSocket(UniqueFd fd, const Path& path, const SendTraits& traits, bool gro)
    : fd_(std::move(fd)),
      path_(path),
      connected_(traits.connected),
      any_local_(traits.with_source),
      gro_(gro),
      sender_(fd_.get(), traits) {}

ReceiveResult UdpSocket::Receive(RecvBatch& batch) {
  ReceiveResult result;
  const int count = batch.Fill(fd_.get());
  if (count < 0) {
    result.failed = errno != EAGAIN && errno != EWOULDBLOCK;
    return result;
  }
  const std::size_t messages = static_cast<std::size_t>(count);
  result.more = batch.full();
  for (std::size_t i = 0; i < messages; ++i) {
    const Ancillary ancillary = batch.ancillary(i);
    InboundDatagram datagram;
    datagram.bytes = batch.bytes(i);
    datagram.segment_bytes = ancillary.segment_bytes;
    datagram.ecn = ancillary.ecn;
    datagram.path = path_;
    if (any_local_ && ancillary.local) datagram.path.local = *ancillary.local;
    if (!connected_) {
      datagram.path.remote = batch.source(i).address();
      datagram.path.remote_udp_port = batch.source(i).port();
    }
    result.too_short += TrimShort(&datagram);
    if (!datagram.bytes.empty()) batch.Add(datagram);
  }
  return result;
}

SendResult UdpSocket::Send(std::span<const OutboundDatagram> out, SendBatch& batch) {
  return sender_.Send(out, batch);
}

bool UdpSocket::ReadErrors(ErrorBatch& batch) { return batch.Fill(fd_.get(), path_, sender_); }

}  // namespace dccp
