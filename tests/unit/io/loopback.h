// Helpers of the socket tests: real sockets on loopback, waits bounded by poll().
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dccp/uv_driver.h"
#include "stack/io/error_batch.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/udp_socket.h"

namespace dccp {

// Far more than anything takes, also under a sanitizer on a machine with other things to do.
constexpr int kPatienceMs = 30000;

inline bool WaitFor(int fd, short events) {
  pollfd wait = {fd, events, 0};
  return ::poll(&wait, 1, kPatienceMs) == 1;
}

inline IpAddress Address(const char* text) {
  IpAddress address;
  EXPECT_TRUE(ParseAddress(text, &address)) << text;
  return address;
}

inline IpAddress LoopbackAddress(IpFamily family) {
  return Address(family == IpFamily::kV4 ? "127.0.0.1" : "::1");
}

// Makes the socket send fragments of at most 1280 bytes, although loopback would carry more. Only
// IPv6 has such an option.
inline void NarrowForFragments(int fd, IpFamily family) {
  if (family == IpFamily::kV4) return;
  const int mtu = 1280;
  ASSERT_EQ(::setsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, sizeof(mtu)), 0);
}

inline IpAddress AnyAddress(IpFamily family) {
  return Address(family == IpFamily::kV4 ? "0.0.0.0" : "::");
}

inline std::unique_ptr<UdpSocket> OpenUdp(const UdpSocketOptions& options) {
  IoError error;
  std::unique_ptr<UdpSocket> socket = UdpSocket::Open(options, &error);
  EXPECT_NE(socket, nullptr) << error.what << ": " << std::strerror(error.errno_value);
  return socket;
}

inline std::unique_ptr<UdpSocket> OpenServer(const IpAddress& local) {
  UdpSocketOptions options;
  options.local = local;
  return OpenUdp(options);
}

inline std::unique_ptr<UdpSocket> OpenClient(const IpAddress& remote, std::uint16_t port) {
  UdpSocketOptions options;
  options.local = AnyAddress(remote.family);
  options.remote = remote;
  options.remote_port = port;
  return OpenUdp(options);
}

// The way back of what arrived over `path`, or the way that a socket bound to `path` is reached.
inline Path Towards(const IpAddress& local, std::uint16_t local_port, const IpAddress& remote,
                    std::uint16_t remote_port) {
  Path path;
  path.local = local;
  path.local_udp_port = local_port;
  path.remote = remote;
  path.remote_udp_port = remote_port;
  return path;
}

inline std::vector<std::byte> Bytes(std::size_t size, std::size_t seed = 0) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((seed * 31 + i) & 0xFF);
  return bytes;
}

// One packet of a batch, copied.
struct Packet {
  std::vector<std::byte> bytes;
  Path path;
  Ecn ecn;
};

// Receives until `count` packets are there; GRO aggregates are taken apart by their stride.
struct Received {
  std::vector<Packet> packets;
  std::size_t datagrams = 0;  // before taking apart
  std::size_t too_short = 0;
};
inline Received ReceivePackets(PacketSocket& socket, std::size_t count) {
  RecvBatch batch;
  Received out;
  while (out.packets.size() + out.too_short < count && WaitFor(socket.fd(), POLLIN)) {
    out.too_short += socket.Receive(batch).too_short;
    for (const InboundDatagram& datagram : batch.datagrams()) {
      ++out.datagrams;
      const std::size_t step =
          datagram.segment_bytes == 0 ? datagram.bytes.size() : datagram.segment_bytes;
      for (std::size_t at = 0; at < datagram.bytes.size(); at += step) {
        const auto part = datagram.bytes.subspan(at, std::min(step, datagram.bytes.size() - at));
        out.packets.push_back({{part.begin(), part.end()}, datagram.path, datagram.ecn});
      }
    }
  }
  return out;
}

inline std::string FamilyName(const testing::TestParamInfo<IpFamily>& info) {
  return info.param == IpFamily::kV4 ? "V4" : "V6";
}

}  // namespace dccp
