// Loopback goodput between a sender and a receiver process: the UDP sockets alone, and beside them
// the same sockets with DCCP, CCID 2, on top.
//
//   perf_loopback [seconds [payload bytes]]
//
// The baseline is run twice, with a window and without; the better one counts. Both processes need
// a core of their own: the program says so when other processes took one meanwhile.
#include <algorithm>

#include "host_load.h"
#include "loopback_dccp.h"
#include "loopback_raw.h"

namespace dccp::perf {
namespace {

// Beyond this much the ratio is of the other work rather than of the two programs.
constexpr double kForeignCoresThatMatter = 0.2;

const char* Name(IpFamily family) { return family == IpFamily::kV4 ? "127.0.0.1" : "::1"; }

void Run(const Settings& settings, IpFamily family) {
  const std::string name = Name(family);
  const HostLoad host;
  const Figures blast = RawRun(settings, family, FlowControl::kBlast).Run();
  PrintRow(name + " sockets, blast", blast);
  const Figures window = RawRun(settings, family, FlowControl::kWindow).Run();
  PrintRow(name + " sockets, window", window);
  DccpRun dccp(settings, family);
  const Figures figures = dccp.Run();
  PrintRow(name + " DCCP, CCID 2", figures);
  const double baseline = std::max(blast.goodput_mbps(), window.goodput_mbps());
  const ConnectionInfo& info = dccp.sender_info();
  std::printf(
      "%s: DCCP carries %.1f %% of the sockets (cwnd %.0f, ack ratio %u, srtt %.0f us, "
      "congestion events %llu, timeouts %llu)\n",
      name.c_str(), baseline > 0 ? 100 * figures.goodput_mbps() / baseline : 0,
      info.sender.cwnd_packets, info.sender.ack_ratio,
      std::chrono::duration<double, std::micro>(info.sender.srtt).count(),
      static_cast<unsigned long long>(info.sender.loss_events),
      static_cast<unsigned long long>(info.sender.timeouts));
  std::int64_t own_cpu_ns = 0;
  double seconds = 0;
  for (const Figures& run : {blast, window, figures}) {
    own_cpu_ns += run.sender_cpu_ns + run.receiver_cpu_ns;
    seconds += run.seconds;
  }
  const double foreign = host.ForeignCores(own_cpu_ns, seconds);
  if (foreign > kForeignCoresThatMatter) {
    std::printf("%s: other processes used %.1f cores meanwhile: repeat this on an idle host\n",
                name.c_str(), foreign);
  }
}

}  // namespace
}  // namespace dccp::perf

int main(int argc, char** argv) {
  dccp::perf::Settings settings;
  if (argc > 1) settings.duration = std::chrono::seconds(std::max(1, std::atoi(argv[1])));
  if (argc > 2) {
    settings.payload_bytes = static_cast<std::uint32_t>(std::clamp(std::atoi(argv[2]), 16, 60000));
  }
  dccp::perf::PrintHeader();
  dccp::perf::Run(settings, dccp::IpFamily::kV6);
  dccp::perf::Run(settings, dccp::IpFamily::kV4);
  return 0;
}
