#include "apps/dccp-lab/plain_udp.h"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/common/cpu_clock.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "dccp/uv_driver.h"
#include "stack/io/monotonic_clock.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/udp_socket.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";

std::unique_ptr<UdpSocket> Open(const PlainUdpSettings& settings, bool sender) {
  UdpSocketOptions options;
  IpAddress address;
  const char* const loopback = settings.family == IpFamily::kV4 ? "127.0.0.1" : "::1";
  if (!ParseAddress(settings.address.empty() ? loopback : settings.address, &address)) {
    Fail(kTool, fmt::format("'{}' is no address", settings.address));
    return nullptr;
  }
  // The sender's own address is the kernel's choice where there is more than loopback.
  options.local = address;
  if (sender) {
    if (!settings.address.empty()) options.local = {address.family, {}, 0};
    options.remote = address;
    options.remote_port = settings.port;
  } else {
    options.local_port = settings.port;
  }
  IoError error;
  std::unique_ptr<UdpSocket> socket = UdpSocket::Open(options, &error);
  if (socket == nullptr)
    Fail(kTool, fmt::format("{}: {}", error.what, ErrnoText(error.errno_value)));
  return socket;
}

volatile std::sig_atomic_t stop_asked = 0;

// Packets, bytes and CPU time from one moment on.
class Meter {
 public:
  explicit Meter(TimePoint from) : from_(from) {}

  void Count(std::uint64_t packets, std::uint64_t bytes, TimePoint now) {
    total_ += packets;
    if (now < from_) return;
    if (!started_) {
      started_ = true;
      start_ = now;
      cpu_ = ProcessCpuTime();
      return;
    }
    packets_ += packets;
    bytes_ += bytes;
    last_ = now;
  }

  void Print() const {
    const double seconds = started_ ? std::chrono::duration<double>(last_ - start_).count() : 0;
    const double cpu_us =
        std::chrono::duration<double, std::micro>(ProcessCpuTime() - cpu_).count();
    const auto packets = static_cast<double>(packets_);
    const bool some = seconds > 0 && packets > 0;
    const nlohmann::ordered_json out = {
        {"packets", packets_},
        {"bytes", bytes_},
        {"total_packets", total_},
        {"bits_per_second", some ? 8 * static_cast<double>(bytes_) / seconds : 0.0},
        {"seconds", seconds},
        {"cpu_percent", some ? cpu_us / seconds * 1e-4 : 0.0},
        {"us_per_packet", some ? cpu_us / packets : 0.0}};
    Put(stdout, out.dump() + "\n");
  }

 private:
  TimePoint from_;
  bool started_ = false;
  TimePoint start_;
  TimePoint last_;
  Duration cpu_ = Duration::zero();
  std::uint64_t total_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
};

// How many may have gone by now at so many a second; without a rate as many as one call takes.
std::size_t Due(const PlainUdpSettings& settings, Duration elapsed, std::uint64_t sent) {
  if (settings.packets_per_second <= 0) return SendBatch::kMaxSegments;
  const double allowed =
      settings.packets_per_second * std::chrono::duration<double>(elapsed).count() + 1;
  const double due = allowed - static_cast<double>(sent);
  return due < 1 ? 0 : static_cast<std::size_t>(std::min(due, double{SendBatch::kMaxSegments}));
}

// Until the next one is due, but long enough for the clock to tell.
void WaitForNext(double packets_per_second) {
  const double ns = std::clamp(1e9 / packets_per_second, 50e3, 5e6);
  const timespec pause = {0, static_cast<long>(ns)};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

int SendPlainUdp(const PlainUdpSettings& settings) {
  const std::unique_ptr<UdpSocket> socket = Open(settings, true);
  if (socket == nullptr) return kExitFailed;
  SendBatch batch;
  const std::vector<std::byte> payload(settings.payload_bytes, std::byte{0x55});
  const std::vector<OutboundDatagram> out(
      SendBatch::kMaxSegments, OutboundDatagram{payload, socket->path(), Ecn::kNotEct, false});
  const TimePoint start = MonotonicClock::Now();
  const TimePoint end = start + settings.omit + settings.duration;
  Meter meter(start + settings.omit);
  std::uint64_t sent = 0;
  for (TimePoint now = start; now < end; now = MonotonicClock::Now()) {
    const std::size_t due = Due(settings, now - start, sent);
    if (due == 0) {
      WaitForNext(settings.packets_per_second);
      continue;
    }
    const SendResult result = socket->Send(std::span(out).first(due), batch);
    sent += result.taken;
    meter.Count(result.taken, result.taken * payload.size(), now);
    if (!result.blocked) continue;
    pollfd wait = {socket->fd(), POLLOUT, 0};
    ::poll(&wait, 1, 10);
  }
  meter.Print();
  return kExitDone;
}

int ReceivePlainUdp(const PlainUdpSettings& settings) {
  const std::unique_ptr<UdpSocket> socket = Open(settings, false);
  if (socket == nullptr) return kExitFailed;
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_asked = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  Put(stdout, "Listening\n");
  std::fflush(stdout);
  RecvBatch batch;
  std::unique_ptr<Meter> meter;
  while (true) {
    const ReceiveResult result = socket->Receive(batch);
    const TimePoint now = MonotonicClock::Now();
    if (batch.datagrams().empty()) {
      if (stop_asked != 0) break;
      pollfd wait = {socket->fd(), POLLIN, 0};
      ::poll(&wait, 1, 100);
      continue;
    }
    static_cast<void>(result);
    if (meter == nullptr) meter = std::make_unique<Meter>(now + settings.omit);
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    for (const InboundDatagram& datagram : batch.datagrams()) {
      const std::size_t size = datagram.bytes.size();
      const std::size_t stride = datagram.segment_bytes != 0 ? datagram.segment_bytes : size;
      packets += (size + stride - 1) / stride;
      bytes += size;
    }
    meter->Count(packets, bytes, now);
  }
  if (meter == nullptr) return Fail(kTool, "plain UDP: nothing came");
  meter->Print();
  return kExitDone;
}

}  // namespace dccp::apps::lab
