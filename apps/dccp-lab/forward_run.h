// Forwarding by frame size: running the cells.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/forward_plan.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/test_bed.h"

namespace dccp::apps::lab {

// What one rate did.
struct ForwardTrial {
  double offered_per_second = 0;  // frames; 0: as fast as it goes
  double seconds = 0;
  double sent = 0;  // frames in that time
  double received = 0;
  double lost = 0;  // a part of those sent
  Json cpu;         // of both ends and of the host
  Json between;  // frames that left towards the receiver in the whole trial, and their mean length

  double sent_per_second() const { return seconds > 0 ? sent / seconds : 0; }
  double received_per_second() const { return seconds > 0 ? received / seconds : 0; }
};

// Runs one cell at a time, since each takes all the CPU there is: as fast as it goes, and then at
// rates that a binary search names. Each run has a test bed of its own.
class ForwardRun {
 public:
  // `programs`: the folder of dccp-send and dccp-recv. `scratch`: for their output. `stop` is asked
  // all the time; when it says so, what runs is ended and given up.
  ForwardRun(const ForwardPlan& plan, std::string programs, std::string scratch,
             std::function<bool()> stop);

  // One run's figures: those of the best trial that passed, with "blast" and "trials", and the
  // "limit": "loss" above that rate, or the "sender", who could not do more; "none" passed. Rates
  // and bytes are of frames. Nothing with `*error` filled; empty where it was stopped.
  std::optional<Json> Run(const ForwardCell& cell, std::string* error);

 private:
  std::optional<ForwardTrial> Try(TestBed* bed, const ForwardCell& cell, double per_second,
                                  std::string* error);
  std::vector<std::string> ReceiverWords(const ForwardCell& cell, const TestBed& bed) const;
  std::vector<std::string> SenderWords(const ForwardCell& cell, const TestBed& bed,
                                       double per_second) const;
  bool ReadPlain(const Child& sender, const Child& receiver, ForwardTrial* trial,
                 std::string* error) const;
  bool ReadDccp(ForwardTrial* trial, std::string* error) const;
  std::string report() const { return scratch_ + "/sender.json"; }

  const ForwardPlan& plan_;
  std::string programs_;
  std::string scratch_;
  std::function<bool()> stop_;
};

// Cables that carry single packets, of the largest frame too.
std::unique_ptr<TestBed> BuildForwardBed(const ForwardCell& cell, std::string* error);

// Sends a datagram through until the far host answers that nobody listens: then every host on the
// way knows its neighbours. False with `*error`.
bool WarmUp(TestBed* bed, IpFamily family, std::string* error);

}  // namespace dccp::apps::lab
