// The same sockets with the protocol: Endpoint and UvDriver at both ends, CCID 2.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/uv_driver.h"
#include "loopback_figures.h"
#include "stack/io/udp_socket.h"

namespace dccp::perf {

class DccpRun {
 public:
  DccpRun(const Settings& settings, IpFamily family) : settings_(settings), family_(family) {
    registry_.Add(ccid2_);
  }

  Figures Run() {
    shared_ = Shared::Map();
    udp_port_ = FreeUdpPort();
    const pid_t child = ::fork();
    if (child == 0) {
      Receive();
      ::_exit(0);
    }
    while (!shared_->ready) ::usleep(1000);
    Figures figures = Send();
    shared_->stop = true;
    ::waitpid(child, nullptr, 0);
    figures.received_packets = shared_->received_packets;
    figures.received_bytes = shared_->received_bytes;
    figures.receiver_cpu_ns = shared_->receiver_cpu_ns;
    shared_->Unmap();
    return figures;
  }

  // Of the sender, when it had ended.
  const ConnectionInfo& sender_info() const { return info_; }

 private:
  static constexpr std::uint16_t kPort = 5001;

  std::uint16_t FreeUdpPort() const {
    UdpSocketOptions options;
    options.local = Loopback(family_);
    IoError error;
    const auto socket = UdpSocket::Open(options, &error);
    return socket == nullptr ? kDefaultUdpPort : socket->path().local_udp_port;
  }

  std::unique_ptr<UvDriver> NewDriver(uv_loop_t* loop) {
    UvDriverConfig config;
    config.endpoint.registry = &registry_;
    DriverError error;
    auto driver = UvDriver::Create(loop, config, &error);
    if (driver == nullptr) Die(error);
    return driver;
  }

  [[noreturn]] static void Die(const DriverError& error) {
    std::fprintf(stderr, "%s: %s\n", error.what.c_str(), std::strerror(error.errno_value));
    std::exit(1);
  }

  void Receive() {
    uv_loop_t loop;
    uv_loop_init(&loop);
    auto driver = NewDriver(&loop);
    Endpoint& endpoint = driver->endpoint();
    ListenParams listen;
    listen.port = kPort;
    DriverError error;
    if (!endpoint.Listen(listen).ok() ||
        !driver->OpenServer(Loopback(family_), udp_port_, false, &error)) {
      Die(error);
    }
    driver->SetEventHandler([&](const Event& event) {
      std::array<ReceivedDatagram, 64> datagrams;
      std::uint64_t packets = 0;
      std::uint64_t bytes = 0;
      while (const std::size_t count = endpoint.Read(event.conn, datagrams)) {
        packets += count;
        for (std::size_t i = 0; i < count; ++i) bytes += datagrams[i].bytes.size();
      }
      shared_->received_packets += packets;
      shared_->received_bytes += bytes;
      if ((event.bits & kEventClosed) != 0) driver->Unref();
    });
    driver->Ref();
    const std::int64_t cpu = CpuNs();
    shared_->ready = true;
    uv_run(&loop, UV_RUN_DEFAULT);
    shared_->receiver_cpu_ns = CpuNs() - cpu;
    driver.reset();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }

  Figures Send() {
    uv_loop_t loop;
    uv_loop_init(&loop);
    auto driver = NewDriver(&loop);
    Endpoint& endpoint = driver->endpoint();
    ConnectParams params;
    params.remote_port = kPort;
    params.options.send_queue_datagrams = 1024;
    DriverError error;
    if (!driver->OpenPath(Loopback(family_), udp_port_, nullptr, &params.path, &error)) Die(error);
    const Result<ConnId> conn = endpoint.Connect(params, driver->now());
    if (!conn.ok()) Die({conn.error(), 0, "connect"});

    const std::vector<std::byte> payload(settings_.payload_bytes, std::byte{0x55});
    Figures figures;
    const TimePoint start = driver->now();
    const std::int64_t cpu = CpuNs();
    bool closing = false;
    driver->SetEventHandler([&](const Event& event) {
      if (closing || (event.bits & kEventClosed) != 0) return;
      while (endpoint.Send(event.conn, payload).ok()) {
      }
      const TimePoint now = driver->now();
      if (now - start < settings_.duration) return;
      closing = true;
      figures.seconds = std::chrono::duration<double>(now - start).count();
      static_cast<void>(endpoint.Close(event.conn, now));
    });
    uv_run(&loop, UV_RUN_DEFAULT);
    figures.sender_cpu_ns = CpuNs() - cpu;
    const Result<ConnectionInfo> info = endpoint.Info(*conn);
    if (info.ok()) info_ = *info;
    figures.sent_packets = info_.counters.data_packets_sent;
    driver.reset();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return figures;
  }

  Settings settings_;
  IpFamily family_;
  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  Shared* shared_ = nullptr;
  std::uint16_t udp_port_ = 0;
  ConnectionInfo info_;
};

}  // namespace dccp::perf
