#include "apps/dccp-lab/host_cpu.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "apps/dccp-lab/child.h"

namespace dccp::apps::lab {

std::optional<HostCpu> HostCpu::Parse(const std::string& stat) {
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double wait = 0;
  double irq = 0;
  double softirq = 0;
  double steal = 0;
  // Guests' time is part of user and nice. proc(5)
  if (std::sscanf(stat.c_str(), "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                  &wait, &irq, &softirq, &steal) != 8)
    return std::nullopt;
  const double busy = user + nice + system + irq + softirq;
  return HostCpu{busy + idle + wait + steal, busy, softirq};
}

std::optional<HostCpu> HostCpu::Now() { return Parse(ReadWholeFile("/proc/stat")); }

HostLoad LoadBetween(const HostCpu& start, const HostCpu& end) {
  const double total = end.total - start.total;
  if (total <= 0) return {};
  return {100 * (end.busy - start.busy) / total, 100 * (end.softirq - start.softirq) / total};
}

double BusyPercent() {
  const std::optional<HostCpu> before = HostCpu::Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::optional<HostCpu> after = HostCpu::Now();
  return before && after ? LoadBetween(*before, *after).percent : 0;
}

}  // namespace dccp::apps::lab
