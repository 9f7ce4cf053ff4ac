// The baseline: what the same two sockets carry between two processes without the protocol.
#pragma once

#include <poll.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "loopback_figures.h"
#include "stack/io/monotonic_clock.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/udp_socket.h"

namespace dccp::perf {

// kBlast: as fast as the sender can, what the receiver cannot take is lost. kWindow: a window of
// packets in flight, the receiver says after each batch how many it has; nothing is lost.
enum class FlowControl { kBlast, kWindow };

class RawRun {
 public:
  RawRun(const Settings& settings, IpFamily family, FlowControl flow)
      : settings_(settings), family_(family), flow_(flow) {}

  Figures Run() {
    shared_ = Shared::Map();
    std::unique_ptr<UdpSocket> server = Open({});
    const Path to = server->path();
    const pid_t child = ::fork();
    if (child == 0) {
      Receive(*server);
      ::_exit(0);
    }
    server.reset();
    Figures figures = Send(to);
    shared_->stop = true;
    ::waitpid(child, nullptr, 0);
    figures.received_packets = shared_->received_packets;
    figures.received_bytes = figures.received_packets * settings_.payload_bytes;
    figures.receiver_cpu_ns = shared_->receiver_cpu_ns;
    shared_->Unmap();
    return figures;
  }

 private:
  static constexpr std::uint64_t kWindowPackets = 1024;
  static constexpr std::size_t kBatch = 180;

  std::unique_ptr<UdpSocket> Open(const std::optional<Path>& to) {
    UdpSocketOptions options;
    options.local = Loopback(family_);
    if (to) {
      options.remote = to->local;
      options.remote_port = to->local_udp_port;
    }
    IoError error;
    auto socket = UdpSocket::Open(options, &error);
    if (socket == nullptr) {
      std::fprintf(stderr, "%s: %s\n", error.what.c_str(), std::strerror(error.errno_value));
      std::exit(1);
    }
    return socket;
  }

  void Receive(UdpSocket& socket) {
    RecvBatch batch;
    SendBatch out;
    const std::int64_t cpu = CpuNs();
    std::uint64_t packets = 0;
    pollfd wait = {socket.fd(), POLLIN, 0};
    while (!shared_->stop) {
      if (::poll(&wait, 1, 50) <= 0) continue;
      socket.Receive(batch);
      for (const InboundDatagram& d : batch.datagrams()) {
        packets +=
            d.segment_bytes == 0 ? 1 : (d.bytes.size() + d.segment_bytes - 1) / d.segment_bytes;
      }
      shared_->received_packets = packets;
      if (flow_ == FlowControl::kBlast || batch.datagrams().empty()) continue;
      std::array<std::byte, 24> count = {};
      std::memcpy(count.data(), &packets, sizeof(packets));
      const OutboundDatagram ack = {count, batch.datagrams().front().path, Ecn::kNotEct, false};
      socket.Send({&ack, 1}, out);
    }
    shared_->receiver_cpu_ns = CpuNs() - cpu;
  }

  void AwaitAcks(UdpSocket& socket, RecvBatch& batch, std::uint64_t* acked) {
    pollfd wait = {socket.fd(), POLLIN, 0};
    ::poll(&wait, 1, 50);
    socket.Receive(batch);
    for (const InboundDatagram& d : batch.datagrams()) {
      // Acks that GRO merged: the newest is the last.
      std::memcpy(acked, d.bytes.data() + (d.bytes.size() - 24), sizeof(*acked));
    }
  }

  Figures Send(const Path& to) {
    std::unique_ptr<UdpSocket> socket = Open(to);
    const std::size_t size = settings_.payload_bytes + settings_.header_bytes;
    std::vector<std::byte> cells(kBatch * size);
    std::vector<OutboundDatagram> datagrams(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) {
      datagrams[i] = {std::span(cells).subspan(i * size, size), socket->path(), Ecn::kEct0, false};
    }
    SendBatch batch;
    RecvBatch acks;
    Figures figures;
    std::uint64_t acked = 0;
    const std::int64_t cpu = CpuNs();
    const TimePoint start = MonotonicClock::Now();
    TimePoint now = start;
    while (now < start + settings_.duration) {
      if (flow_ == FlowControl::kWindow && figures.sent_packets - acked > kWindowPackets - kBatch) {
        AwaitAcks(*socket, acks, &acked);
      } else {
        const SendResult sent = socket->Send(datagrams, batch);
        figures.sent_packets += sent.taken;
        if (sent.blocked) {
          pollfd wait = {socket->fd(), POLLOUT, 0};
          ::poll(&wait, 1, 50);
        }
      }
      now = MonotonicClock::Now();
    }
    figures.sender_cpu_ns = CpuNs() - cpu;
    figures.seconds = std::chrono::duration<double>(now - start).count();
    while (flow_ == FlowControl::kWindow && acked < figures.sent_packets &&
           MonotonicClock::Now() < now + std::chrono::seconds(1)) {
      AwaitAcks(*socket, acks, &acked);
    }
    return figures;
  }

  Settings settings_;
  IpFamily family_;
  FlowControl flow_;
  Shared* shared_ = nullptr;
};

}  // namespace dccp::perf
