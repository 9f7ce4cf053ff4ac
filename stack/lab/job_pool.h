// Many independent jobs on some threads.
#pragma once

#include <cstddef>
#include <functional>

namespace dccp::lab {

// As many as the machine runs at once.
std::size_t DefaultThreads();

// Calls job(0) to job(count - 1), each once, in that order of beginning, on `threads` threads.
// After each `done(i)` is called, never two at a time. Returns when all are done. A job shares
// nothing with another but what nobody writes.
void RunJobs(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& job,
             const std::function<void(std::size_t)>& done = {});

}  // namespace dccp::lab
