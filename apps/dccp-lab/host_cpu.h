// Processor time of the whole machine.
#pragma once

#include <optional>
#include <string>

namespace dccp::apps::lab {

// Ticks of all cores since the start, by /proc/stat. Time that the hypervisor gave to others is
// part of `total` only.
struct HostCpu {
  double total = 0;
  double busy = 0;     // all but idle, waiting and stolen time
  double softirq = 0;  // part of busy: among others forwarding

  // Nothing where it is not what Linux writes.
  static std::optional<HostCpu> Parse(const std::string& stat);
  static std::optional<HostCpu> Now();
};

// Between two moments, in percent of all cores.
struct HostLoad {
  double percent = 0;
  double softirq_percent = 0;
};
HostLoad LoadBetween(const HostCpu& start, const HostCpu& end);

// How busy the host is now; takes 0.3 s. 0 where it cannot be told.
double BusyPercent();

}  // namespace dccp::apps::lab
