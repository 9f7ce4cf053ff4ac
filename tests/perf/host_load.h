// How many cores of the host something else kept busy meanwhile: a ratio of two runs says little
// when a third party held one of the cores during one of them.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "loopback_figures.h"

namespace dccp::perf {

class HostLoad {
 public:
  HostLoad() : busy_ticks_(BusyTicks()) {}

  // Cores used by others since construction: the whole host's, less `own_cpu_ns` of the runs.
  double ForeignCores(std::int64_t own_cpu_ns, double seconds) const {
    if (busy_ticks_ < 0 || seconds <= 0) return 0;
    const double busy = static_cast<double>(BusyTicks() - busy_ticks_) /
                        static_cast<double>(::sysconf(_SC_CLK_TCK));
    const double foreign = (busy - static_cast<double>(own_cpu_ns) * 1e-9) / seconds;
    return foreign > 0 ? foreign : 0;
  }

 private:
  // Ticks that were not idle, from the first line of /proc/stat; -1 where there is none.
  static std::int64_t BusyTicks() {
    std::FILE* file = std::fopen("/proc/stat", "r");
    if (file == nullptr) return -1;
    long long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    const int fields = std::fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user,
                                   &nice, &system, &idle, &iowait, &irq, &softirq, &steal);
    std::fclose(file);
    return fields == 8 ? user + nice + system + irq + softirq + steal : -1;
  }

  std::int64_t busy_ticks_;
};

}  // namespace dccp::perf
