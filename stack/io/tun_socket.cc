#include "stack/io/tun_socket.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "stack/io/icmp_message.h"
#include "stack/io/recv_batch.h"

namespace dccp {
namespace {

constexpr const char* kDevice = "/dev/net/tun";
constexpr std::size_t kMinBytes = 12;  // RFC 4340 §5.1

bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// The device's MTU and whether it is up; false with errno.
bool AskDevice(const ifreq& named, int* mtu, bool* up) {
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = named;
  if (!fd.valid() || ::ioctl(fd.get(), SIOCGIFMTU, &request) != 0) return false;
  *mtu = request.ifr_mtu;
  request = named;
  if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return false;
  *up = (request.ifr_flags & IFF_UP) != 0;
  return true;
}

}  // namespace

std::unique_ptr<TunSocket> TunSocket::Open(const std::string& name, IoError* error) {
  ifreq request = {};
  if (name.empty() || name.size() >= sizeof(request.ifr_name) ||
      ::if_nametoindex(name.c_str()) == 0) {
    // The kernel would make a device of that name, without an address, for as long as it is open.
    errno = ENODEV;
    SetIoError(error, "TUN device " + name);
    return nullptr;
  }
  std::copy(name.begin(), name.end(), request.ifr_name);
  int mtu = 0;
  bool up = false;
  if (!AskDevice(request, &mtu, &up)) {
    SetIoError(error, "TUN device " + name);
    return nullptr;
  }
  if (!up) {
    errno = ENETDOWN;
    SetIoError(error, "TUN device " + name);
    return nullptr;
  }
  UniqueFd fd(::open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    SetIoError(error, kDevice);
    return nullptr;
  }
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(fd.get(), TUNSETIFF, &request) != 0) {
    SetIoError(error, "TUN device " + name);
    return nullptr;
  }
  return std::unique_ptr<TunSocket>(new TunSocket(std::move(fd), static_cast<std::uint32_t>(mtu)));
}

TunSocket::TunSocket(UniqueFd fd, std::uint32_t mtu_bytes)
    : fd_(std::move(fd)), mtu_bytes_(mtu_bytes) {
  kept_.reserve(kMaxErrors);
}

ReceiveResult TunSocket::Receive(RecvBatch& batch) {
  ReceiveResult result;
  batch.Clear();
  for (std::size_t i = 0; i < batch.capacity(); ++i) {
    const std::span<std::byte> buffer = batch.buffer(i);
    const ssize_t length = ::read(fd_.get(), buffer.data(), buffer.size());
    if (length < 0) {
      if (errno == EINTR) continue;
      result.failed = !IsWouldBlock(errno);
      return result;
    }
    const std::optional<IpHeader> header =
        ReadIpHeader(buffer.first(static_cast<std::size_t>(length)), Extent::kWhole);
    if (!header) continue;
    if (header->protocol != kProtocolNumber) {
      const std::optional<IcmpError> error = ReadIcmpError(*header);
      if (error) Keep(*error);
      result.errors = result.errors || error.has_value();
      continue;
    }
    if (header->fragment || header->payload.size() < kMinBytes) {
      ++result.too_short;
      continue;
    }
    InboundDatagram datagram;
    datagram.bytes = header->payload;
    datagram.path.local = header->destination;
    datagram.path.remote = header->source;
    datagram.ecn = header->ecn;
    batch.Add(datagram);
  }
  result.more = true;
  return result;
}

void TunSocket::Keep(const IcmpError& error) {
  // What is too much of them is lost, like any ICMP message.
  if (kept_.size() == kMaxErrors) return;
  KeptError& kept = kept_.emplace_back();
  kept.error = error;
  const std::size_t length = std::min(error.quoted.size(), kept.quote.size());
  std::copy_n(error.quoted.begin(), length, kept.quote.begin());
  kept.error.quoted = {kept.quote.data(), length};
}

SendResult TunSocket::Send(std::span<const OutboundDatagram> out, SendBatch&) {
  SendResult result;
  for (const OutboundDatagram& datagram : out) {
    std::array<std::byte, kIpv6HeaderBytes> header;
    const std::size_t header_bytes = WriteIpHeader(datagram, next_id_, header);
    if (datagram.may_fragment) ++next_id_;
    iovec parts[] = {{header.data(), header_bytes},
                     {const_cast<std::byte*>(datagram.bytes.data()), datagram.bytes.size()}};
    ssize_t written = 0;
    do {
      written = ::writev(fd_.get(), parts, 2);
    } while (written < 0 && errno == EINTR);
    if (written < 0 && IsWouldBlock(errno)) {
      result.blocked = true;
      return result;
    }
    if (written < 0) {
      // EIO: the device is down.
      Keep({errno == EINVAL ? IcmpKind::kTooBig : IcmpKind::kNetUnreachable, 0, datagram.path,
            datagram.bytes});
      result.failed = true;
    }
    ++result.taken;
  }
  return result;
}

bool TunSocket::ReadErrors(ErrorBatch& batch) {
  batch.Clear();
  for (const KeptError& kept : kept_) batch.Add(kept.error);
  kept_.clear();
  return false;
}

}  // namespace dccp
