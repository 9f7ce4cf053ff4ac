// What dccp-netem does against what it was told: delay error, loss, rate. Runs the program that
// lies beside this one as a relay over loopback.
//
//   perf_netem [packets a second [seconds [more options of dccp-netem...]]]
//
// The delay of a packet is from just before it is sent until the kernel receives it behind the
// relay, so it includes both ways over loopback. Sending and receiving take CPU time of their own,
// which on a machine of few cores adds to the error.
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dccp/uv_driver.h"
#include "stack/base/byte_order.h"
#include "stack/io/monotonic_clock.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/socket_options.h"
#include "stack/io/udp_socket.h"

extern char** environ;

namespace dccp::perf {
namespace {

constexpr std::size_t kPayloadBytes = 1000;
constexpr std::size_t kIpBytes = kPayloadBytes + 28;
constexpr std::uint16_t kRelayPort = 47611;

struct Run {
  std::vector<std::string> path;
  double packets_per_second = 50'000;
  double seconds = 5;
};

struct Result {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::vector<double> delays_ms;
  double receive_seconds = 0;  // from the first packet to the last
};

Duration RealTime() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

std::unique_ptr<UdpSocket> Open(std::uint16_t local_port, std::uint16_t remote_port) {
  UdpSocketOptions options;
  ParseAddress("127.0.0.1", &options.local);
  options.local_port = local_port;
  if (remote_port != 0) {
    options.remote = options.local;
    options.remote_port = remote_port;
  }
  options.offload = false;
  options.buffer_bytes = 32u << 20;
  IoError error;
  std::unique_ptr<UdpSocket> socket = UdpSocket::Open(options, &error);
  if (socket == nullptr) {
    std::fprintf(stderr, "perf_netem: %s: %s\n", error.what.c_str(),
                 std::strerror(error.errno_value));
    std::exit(1);
  }
  SetIntOption(socket->fd(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  return socket;
}

pid_t StartRelay(const std::string& program, std::uint16_t to, const Run& run) {
  std::vector<std::string> words = {program,    "udp",
                                    "--listen", "127.0.0.1:" + std::to_string(kRelayPort),
                                    "--to",     "127.0.0.1:" + std::to_string(to)};
  words.insert(words.end(), run.path.begin(), run.path.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    std::perror("perf_netem: dccp-netem");
    std::exit(1);
  }
  return pid;
}

void Receive(UdpSocket& socket, const std::atomic<bool>& stop, Result* result) {
  RecvBatch batch;
  TimePoint first = kNever;
  TimePoint last = TimePoint::min();
  while (!stop) {
    const int count = batch.Fill(socket.fd());
    if (count <= 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    const Duration real_to_mono = MonotonicClock::Now().time_since_epoch() - RealTime();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const Ancillary ancillary = batch.ancillary(i);
      if (!ancillary.received || batch.bytes(i).size() != kPayloadBytes) continue;
      const TimePoint at = TimePoint(*ancillary.received + real_to_mono);
      const TimePoint sent(Duration(static_cast<std::int64_t>(LoadBe64(batch.bytes(i).data()))));
      result->delays_ms.push_back(std::chrono::duration<double, std::milli>(at - sent).count());
      ++result->received;
      first = Earlier(first, at);
      last = Later(last, at);
    }
  }
  if (result->received > 1)
    result->receive_seconds = std::chrono::duration<double>(last - first).count();
}

void Send(UdpSocket& socket, const Run& run, Result* result) {
  SendBatch batch;
  std::array<std::array<std::byte, kPayloadBytes>, 8> payloads = {};
  std::vector<OutboundDatagram> out;
  const TimePoint start = MonotonicClock::Now();
  const auto total = static_cast<std::uint64_t>(run.packets_per_second * run.seconds);
  while (result->sent < total) {
    const TimePoint now = MonotonicClock::Now();
    const double elapsed = std::chrono::duration<double>(now - start).count();
    const auto due = std::min(total, static_cast<std::uint64_t>(elapsed * run.packets_per_second));
    if (due <= result->sent) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      continue;
    }
    out.clear();
    for (std::uint64_t i = result->sent; i < due && out.size() < payloads.size(); ++i) {
      auto& payload = payloads[out.size()];
      StoreBe64(payload.data(),
                static_cast<std::uint64_t>(MonotonicClock::Now().time_since_epoch().count()));
      out.push_back({payload, socket.path(), Ecn::kNotEct, false});
    }
    result->sent += socket.Send(out, batch).taken;
  }
}

Result Measure(const std::string& program, const Run& run) {
  const std::unique_ptr<UdpSocket> server = Open(0, 0);
  const pid_t relay = StartRelay(program, server->path().local_udp_port, run);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  Result result;
  result.delays_ms.reserve(static_cast<std::size_t>(run.packets_per_second * run.seconds * 1.1));
  std::atomic<bool> stop = false;
  std::thread receiver(Receive, std::ref(*server), std::cref(stop), &result);
  {
    const std::unique_ptr<UdpSocket> client = Open(0, kRelayPort);
    Send(*client, run, &result);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  }
  stop = true;
  receiver.join();
  ::kill(relay, SIGINT);
  int status = 0;
  ::waitpid(relay, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "perf_netem: dccp-netem failed\n");
    std::exit(1);
  }
  return result;
}

void PrintDelay(const Result& result, double nominal_ms) {
  std::vector<double> errors = result.delays_ms;
  if (errors.empty()) return;
  for (double& error : errors) error -= nominal_ms;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double q) {
    return errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
  };
  std::printf("  delay error: median %.3f ms, 1 %% %.3f ms, 99 %% %.3f ms, worst %.3f ms (%zu)\n",
              at(0.5), at(0.01), at(0.99), errors.back(), errors.size());
}

void PrintLoss(const Result& result, double p) {
  const auto n = static_cast<double>(result.sent);
  const double lost = n - static_cast<double>(result.received);
  constexpr double kZ99 = 2.5758;
  const double half = kZ99 * std::sqrt(n * p * (1 - p));
  std::printf("  loss: %.0f of %.0f, %.4f %%; binomial 99 %% interval %.0f to %.0f: %s\n", lost, n,
              100 * lost / n, n * p - half, n * p + half,
              std::abs(lost - n * p) <= half ? "within" : "OUTSIDE");
}

}  // namespace
}  // namespace dccp::perf

int main(int argc, char** argv) {
  using namespace dccp::perf;
  std::string program = argv[0];
  program = program.substr(0, program.find_last_of('/') + 1) + "dccp-netem";
  Run run;
  if (argc > 1) run.packets_per_second = std::max(1.0, std::atof(argv[1]));
  if (argc > 2) run.seconds = std::max(0.5, std::atof(argv[2]));
  const std::vector<std::string> more(argv + std::min(argc, 3), argv + argc);
  const auto with = [&](std::vector<std::string> path) {
    path.insert(path.end(), more.begin(), more.end());
    return path;
  };

  std::printf("delay 20 ms, %.0f packets/s\n", run.packets_per_second);
  std::fflush(stdout);
  run.path = with({"--delay", "20ms"});
  PrintDelay(Measure(program, run), 20);

  std::printf("loss 1 %%, %.0f packets/s\n", run.packets_per_second);
  std::fflush(stdout);
  run.path = with({"--delay", "20ms", "--loss", "1%"});
  PrintLoss(Measure(program, run), 0.01);

  run.packets_per_second = 10'000;
  std::printf("rate 40 Mbit/s, %.1f Mbit/s offered\n", run.packets_per_second * kIpBytes * 8e-6);
  std::fflush(stdout);
  run.path = with({"--delay", "5ms", "--fwd-rate", "40Mbit", "--fwd-queue", "50"});
  const Result result = Measure(program, run);
  const double rate =
      static_cast<double>((result.received - 1) * kIpBytes) * 8e-6 / result.receive_seconds;
  std::printf("  rate: %.3f Mbit/s, error %.3f %%\n", rate, 100 * (rate / 40 - 1));
  return 0;
}
