// Runs that go at the same time, in real time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/host_cpu.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/tfrc_batches.h"
#include "apps/dccp-lab/tfrc_bed.h"
#include "apps/dccp-lab/tfrc_plan.h"

namespace dccp::apps::lab {

// What became of a job: its run, or why there is none. Neither: it was stopped too early.
struct TfrcOutcome {
  TfrcJob job;
  Json run;  // as dccp-send's "end", with "intervals", "seed", and "partial" where it was stopped
  std::string error;
};

// Owns all programs of one batch: a sender a run, a receiver and an emulator a cell.
class TfrcBatch {
 public:
  // All must outlive it.
  TfrcBatch(const TfrcSetting& setting, const TfrcPlan& plan, std::span<const TfrcCell> cells);

  // `progress` is told the seconds that are left, now and then. Returns when all have ended; when
  // `setting.stop` says so, senders are asked for what they have until then.
  std::vector<TfrcOutcome> Run(const std::vector<TfrcJob>& jobs,
                               const std::function<void(double seconds_left)>& progress);

  // Processor time of all programs for a data packet, while it was measured; 0: not known.
  double us_per_packet() const { return us_per_packet_; }

 private:
  struct Sender {
    TfrcJob job;
    std::string report;
    Child child;
    bool over = false;
    std::string error;
  };
  // A cell's bed, and what it used of the processors while it was measured.
  struct Place {
    std::unique_ptr<TfrcBed> bed;
    std::string error;
    double receiver_s = 0;
    double emulator_s = 0;
    Json emulator;
    double received = 0;  // data packets of all its runs
    double sent = 0;
    double runs = 0;
  };

  void OpenBeds(const std::vector<TfrcJob>& jobs);
  void StartSenders(const std::vector<TfrcJob>& jobs);
  void WaitForAll(const std::function<void(double)>& progress);
  void CheckBeds();
  // The clocks of everything at the begin of what is measured; the second time, what passed.
  void ReadClocks(bool begin);
  std::vector<TfrcOutcome> Collect();
  TfrcOutcome Outcome(Sender* sender);
  void AddShares(const Place& place, Json* run) const;

  const TfrcSetting& setting_;
  const TfrcPlan& plan_;
  std::span<const TfrcCell> cells_;
  std::map<std::size_t, Place> places_;  // by cell
  std::vector<Sender> senders_;
  double window_s_ = 0;
  std::optional<HostCpu> host_begin_;
  std::optional<HostLoad> host_;
  double us_per_packet_ = 0;
};

}  // namespace dccp::apps::lab
