#include "stack/io/raw_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "stack/io/error_batch.h"
#include "stack/io/recv_batch.h"
#include "stack/io/socket_address.h"
#include "stack/io/socket_options.h"

namespace dccp {
namespace {

constexpr std::size_t kMinBytes = 12;  // RFC 4340 §5.1
constexpr std::size_t kMinIpv4HeaderBytes = 20;

// Removes the IPv4 header that a raw socket delivers and takes the destination from it. The kernel
// has verified the header; the length is checked again because memory safety rests on it.
bool StripIpv4Header(InboundDatagram* datagram) {
  const std::span<const std::byte> packet = datagram->bytes;
  if (packet.size() < kMinIpv4HeaderBytes) return false;
  const std::size_t header = (std::to_integer<std::size_t>(packet[0]) & 0x0F) * 4;
  if (header < kMinIpv4HeaderBytes || header > packet.size()) return false;
  datagram->path.local.family = IpFamily::kV4;
  std::memcpy(datagram->path.local.bytes.data(), &packet[16], 4);
  datagram->ecn = static_cast<Ecn>(std::to_integer<unsigned>(packet[1]) & 3u);
  datagram->bytes = packet.subspan(header);
  return true;
}

}  // namespace

bool KernelSpeaksDccp() {
  std::ifstream protocols("/proc/net/protocols");
  for (std::string line; std::getline(protocols, line);) {
    if (line.starts_with("DCCP")) return true;
  }
  return false;
}

std::unique_ptr<RawSocket> RawSocket::Open(IpFamily family, std::uint32_t buffer_bytes,
                                           IoError* error) {
  if (KernelSpeaksDccp()) {
    errno = EADDRINUSE;
    SetIoError(error, "raw socket of protocol 33: this kernel answers DCCP itself");
    return nullptr;
  }
  UniqueFd fd(
      ::socket(AddressFamily(family), SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, kProtocolNumber));
  if (!fd.valid()) {
    SetIoError(error, errno == EPERM ? "raw socket of protocol 33 (needs CAP_NET_RAW)"
                                     : "raw socket of protocol 33");
    return nullptr;
  }
  if (!SetCommonOptions(fd.get(), family, true, buffer_bytes)) {
    SetIoError(error, "raw socket options");
    return nullptr;
  }
  return std::unique_ptr<RawSocket>(new RawSocket(std::move(fd), family));
}

RawSocket::RawSocket(UniqueFd fd, IpFamily family)
    : fd_(std::move(fd)),
      family_(family),
      sender_(
          fd_.get(),
          SendTraits{.family = family, .connected = false, .with_source = true, .segment = false}) {
}

ReceiveResult RawSocket::Receive(RecvBatch& batch) {
  ReceiveResult result;
  const int count = batch.Fill(fd_.get());
  if (count < 0) {
    result.failed = errno != EAGAIN && errno != EWOULDBLOCK;
    return result;
  }
  const std::size_t messages = static_cast<std::size_t>(count);
  result.more = batch.full();
  for (std::size_t i = 0; i < messages; ++i) {
    InboundDatagram datagram;
    datagram.bytes = batch.bytes(i);
    datagram.path.remote = batch.source(i).address();
    if (family_ == IpFamily::kV4) {
      if (!StripIpv4Header(&datagram)) datagram.bytes = {};
    } else {
      const Ancillary ancillary = batch.ancillary(i);
      datagram.ecn = ancillary.ecn;
      if (ancillary.local) datagram.path.local = *ancillary.local;
    }
    if (datagram.bytes.size() < kMinBytes) {
      ++result.too_short;
    } else {
      batch.Add(datagram);
    }
  }
  return result;
}

SendResult RawSocket::Send(std::span<const OutboundDatagram> out, SendBatch& batch) {
  return sender_.Send(out, batch);
}

bool RawSocket::ReadErrors(ErrorBatch& batch) {
  Path own;
  own.local.family = family_;
  return batch.Fill(fd_.get(), own, sender_);
}

void RawSocket::SetFilter(std::span<const sock_filter> program) {
  if (program.empty()) {
    const int none = 0;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
    return;
  }
  std::vector<sock_filter> code(program.begin(), program.end());
  const sock_fprog attached = {static_cast<unsigned short>(code.size()), code.data()};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &attached, sizeof(attached));
}

}  // namespace dccp
