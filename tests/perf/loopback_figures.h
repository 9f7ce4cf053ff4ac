// Shapes shared by the parts of perf_loopback: settings, what both processes count, and a row.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "dccp/time.h"
#include "dccp/types.h"
#include "dccp/uv_driver.h"

namespace dccp::perf {

struct Settings {
  Duration duration = std::chrono::seconds(3);
  std::uint32_t payload_bytes = 1420;
  std::uint32_t header_bytes = 24;  // a DCCP-DataAck's header with a little Ack Vector
};

inline IpAddress Loopback(IpFamily family) {
  IpAddress address;
  ParseAddress(family == IpFamily::kV4 ? "127.0.0.1" : "::1", &address);
  return address;
}

// In memory that both processes see.
struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<bool> ready{false};
  std::atomic<std::uint16_t> port{0};
  std::atomic<std::uint64_t> received_packets{0};
  std::atomic<std::uint64_t> received_bytes{0};
  std::atomic<std::int64_t> receiver_cpu_ns{0};

  static Shared* Map() {
    void* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return new (memory) Shared;
  }
  void Unmap() { ::munmap(this, sizeof(Shared)); }
};

inline std::int64_t CpuNs() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Figures {
  std::uint64_t sent_packets = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_bytes = 0;  // of payload
  std::int64_t sender_cpu_ns = 0;
  std::int64_t receiver_cpu_ns = 0;
  double seconds = 0;

  double goodput_mbps() const {
    return seconds > 0 ? static_cast<double>(received_bytes) * 8e-6 / seconds : 0;
  }
};

inline void PrintHeader() {
  std::printf("%-26s %12s %12s %8s %14s %14s\n", "run", "packets/s", "Mbit/s", "lost %",
              "sender ns/pkt", "receiver ns/pkt");
}

inline void PrintRow(const std::string& name, const Figures& f) {
  const double sent = static_cast<double>(f.sent_packets);
  const double received = static_cast<double>(f.received_packets);
  std::printf("%-26s %12.0f %12.0f %8.2f %14.0f %14.0f\n", name.c_str(),
              f.seconds > 0 ? received / f.seconds : 0, f.goodput_mbps(),
              sent > 0 ? 100.0 * (sent - received) / sent : 0,
              sent > 0 ? static_cast<double>(f.sender_cpu_ns) / sent : 0,
              received > 0 ? static_cast<double>(f.receiver_cpu_ns) / received : 0);
  std::fflush(stdout);
}

}  // namespace dccp::perf
