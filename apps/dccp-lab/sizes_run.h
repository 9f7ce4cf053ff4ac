// Throughput by payload size: running the cells.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/sizes_plan.h"

namespace dccp::apps::lab {

// Runs one cell at a time, since each takes all the CPU there is: a sender and a receiver, programs
// of their own, over loopback.
class SizesRun {
 public:
  // `programs`: the folder of dccp-send and dccp-recv. `scratch`: for their output. `stop` is asked
  // all the time; when it says so, what runs is ended and given up.
  SizesRun(const SizesPlan& plan, std::string programs, std::string scratch,
           std::function<bool()> stop);

  // One run's figures, as dccp-send's "end" object has them. Nothing with `*error` filled; empty
  // where it was stopped.
  std::optional<Json> Run(const SizesCell& cell, std::string* error);

 private:
  std::optional<Json> RunDccp(const SizesCell& cell, std::string* error);
  std::optional<Json> RunPlain(const SizesCell& cell, std::string* error);
  // A receiver that listens; tries other ports where one is taken.
  std::optional<Child> StartReceiver(const std::function<std::vector<std::string>(int)>& words,
                                     int* port, std::string* error);

  const SizesPlan& plan_;
  std::string programs_;
  std::string scratch_;
  std::function<bool()> stop_;
  int next_port_;
};

}  // namespace dccp::apps::lab
