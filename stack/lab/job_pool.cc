#include "stack/lab/job_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace dccp::lab {

std::size_t DefaultThreads() { return std::max(std::thread::hardware_concurrency(), 1u); }

void RunJobs(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& job,
             const std::function<void(std::size_t)>& done) {
  std::atomic<std::size_t> next = 0;
  std::mutex done_mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      job(i);
      if (!done) continue;
      const std::lock_guard lock(done_mutex);
      done(i);
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

}  // namespace dccp::lab
