#include "apps/common/cpu_clock.h"

#include <sys/resource.h>

namespace dccp::apps {

Duration ProcessCpuTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

}  // namespace dccp::apps
