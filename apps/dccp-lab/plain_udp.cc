#include "apps/dccp-lab/plain_udp.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
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
  ParseAddress(settings.family == IpFamily::kV4 ? "127.0.0.1" : "::1", &options.local);
  if (sender) {
    options.remote = options.local;
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
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
};

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
  for (TimePoint now = start; now < end; now = MonotonicClock::Now()) {
    const SendResult result = socket->Send(out, batch);
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
  while (stop_asked == 0) {
    const ReceiveResult result = socket->Receive(batch);
    const TimePoint now = MonotonicClock::Now();
    if (batch.datagrams().empty()) {
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
