// dccp-lab tfrc.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "apps/common/parse.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/network_namespace.h"
#include "apps/dccp-lab/progress.h"
#include "apps/dccp-lab/report_page.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/scratch.h"
#include "apps/dccp-lab/tfrc_batches.h"
#include "apps/dccp-lab/tfrc_plan.h"
#include "apps/dccp-lab/tfrc_run.h"
#include "apps/dccp-lab/tfrc_simulate.h"
#include "apps/dccp-lab/tfrc_table.h"
#include "stack/lab/job_pool.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";
// Of all programs for a data packet, for as long as nothing was measured.
constexpr double kFirstUsPerPacket = 90;
// From one batch to the next.
constexpr double kBatchSeconds = 4;

struct TfrcOptions {
  std::vector<std::string> topologies;
  std::vector<std::string> paths;
  std::vector<std::string> sizes;
  std::vector<std::string> only;
  std::string seconds = "300";
  std::string omit = "30";
  std::size_t repeat = 10;
  std::size_t at_once = 0;
  std::uint64_t seed = 1;
  bool only_v4 = false;
  bool only_v6 = false;
  bool extended = false;
  bool simulate = false;
  bool resume = false;
  std::string out = "dccp-lab-tfrc";
  std::string json_file;
  bool json = false;
};

// Empty when all is well.
std::string Understand(const TfrcOptions& o, TfrcPlan* plan) {
  if (!o.topologies.empty()) plan->topologies = o.topologies;
  if (plan->topologies == std::vector<std::string>{"all"})
    plan->topologies = {"relay", "router", "bridge"};
  for (const std::string& topology : plan->topologies)
    if (topology != "relay" && topology != "router" && topology != "bridge")
      return fmt::format("--topology: '{}' is none of relay, router, bridge, all", topology);
  if (o.extended) plan->paths = ExtendedPaths();
  if (o.extended && !o.paths.empty()) return "--extended and --paths exclude each other";
  if (!o.paths.empty()) plan->paths.clear();
  for (const std::string& text : o.paths) {
    const std::optional<TfrcPath> path = ParseTfrcPath(text);
    if (!path)
      return fmt::format(
          "--paths: '{}' is not RTT/LOSS with 1ms to 10s and 0.001% to 50%, as in 40ms/1%", text);
    if (std::find(plan->paths.begin(), plan->paths.end(), *path) == plan->paths.end())
      plan->paths.push_back(*path);
  }
  for (const std::string& text : o.sizes) {
    const std::optional<std::uint64_t> size = ParseSize(text);
    if (!size || *size < 12 || *size > 8900)
      return fmt::format("--sizes: '{}' is no size from 12 to 8900", text);
    plan->sizes.push_back(static_cast<std::size_t>(*size));
  }
  if (o.only_v4 && o.only_v6) return "-4 and -6 exclude each other";
  if (o.only_v4) plan->families = {IpFamily::kV4};
  if (o.only_v6) plan->families = {IpFamily::kV6};
  const std::optional<Duration> seconds = ParseTime(o.seconds);
  const std::optional<Duration> omit = ParseTime(o.omit);
  if (!seconds || *seconds < std::chrono::seconds(1))
    return fmt::format("--seconds: '{}' is no time of at least 1", o.seconds);
  if (!omit) return fmt::format("--omit: '{}' is no time", o.omit);
  plan->seconds = std::chrono::duration<double>(*seconds).count();
  plan->omit = std::chrono::duration<double>(*omit).count();
  plan->repeat = o.repeat;
  plan->seed = o.seed;
  plan->simulate = o.simulate;
  plan->only = o.only;
  return "";
}

// What is still to be done, repeat by repeat, so that the first batches hold all cells.
std::vector<TfrcJob> JobsLeft(const TfrcPlan& plan, const std::vector<TfrcCell>& cells,
                              const Results& results) {
  std::vector<TfrcJob> jobs;
  for (std::size_t repeat = 0; repeat < plan.repeat; ++repeat)
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (repeat >= results.runs(cells[i].id)) jobs.push_back({i, repeat});
  return jobs;
}

// Keeps runs and says what went wrong, once a cell.
class Collector {
 public:
  Collector(const TfrcPlan& plan, const std::vector<TfrcCell>& cells, Results* results)
      : plan_(plan), cells_(cells), results_(results) {}

  // Jobs that failed the first time; false with `*error` where results cannot be written.
  bool Keep(const std::vector<TfrcOutcome>& outcomes, std::vector<TfrcJob>* again,
            std::string* error) {
    std::vector<Results::CellRun> runs;
    std::string complaint;
    for (const TfrcOutcome& outcome : outcomes) {
      const TfrcCell& cell = cells_[outcome.job.cell];
      if (!outcome.run.is_null()) runs.push_back({CellToJson(plan_, cell), outcome.run});
      if (outcome.error.empty()) continue;
      if (complaint.find(cell.id) == std::string::npos)
        complaint += fmt::format("{}: {}: {}\n", kTool, cell.id, outcome.error);
      if (++tries_[{outcome.job.cell, outcome.job.repeat}] == 1)
        again->push_back(outcome.job);
      else
        failed_ = true;
    }
    Put(stderr, complaint);
    return runs.empty() || results_->Add(runs, error);
  }
  bool failed() const { return failed_; }

 private:
  const TfrcPlan& plan_;
  const std::vector<TfrcCell>& cells_;
  Results* results_;
  std::map<std::pair<std::size_t, std::size_t>, int> tries_;
  bool failed_ = false;
};

// The exit code.
int RunInRealTime(const TfrcPlan& plan, const std::vector<TfrcCell>& cells, std::size_t at_once,
                  Results* results) {
  const Scratch scratch;
  if (scratch.path().empty())
    return Fail(kTool, fmt::format("cannot make a folder for output: {}", ErrnoText()));
  // What it runs should not wait for others; not being granted it costs accuracy only.
  const Realtime realtime;
  const TfrcSetting setting = {std::filesystem::read_symlink("/proc/self/exe").parent_path(),
                               scratch.path(), Interrupted, realtime.granted()};
  std::vector<TfrcJob> jobs = JobsLeft(plan, cells, *results);
  Collector collector(plan, cells, results);
  StatusLine status;
  double us_per_packet = kFirstUsPerPacket;
  std::string error;
  while (!jobs.empty() && !Interrupted()) {
    const auto batches =
        Batches(jobs, cells, PacketsThatFit(us_per_packet, setting.realtime), at_once);
    const std::vector<TfrcJob>& batch = batches.front();
    jobs.erase(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(batch.size()));
    const double after =
        static_cast<double>(batches.size() - 1) * (plan.omit + plan.seconds + kBatchSeconds);
    TfrcBatch runner(setting, plan, cells);
    const std::vector<TfrcOutcome> outcomes = runner.Run(batch, [&](double seconds_left) {
      status.Show(fmt::format("{} runs at the same time, {} after them: {} left", batch.size(),
                              jobs.size(), TimeText(seconds_left + after)));
    });
    status.Clear();
    if (!collector.Keep(outcomes, &jobs, &error)) return Fail(kTool, error);
    if (runner.us_per_packet() > 0) us_per_packet = std::clamp(runner.us_per_packet(), 20.0, 400.0);
  }
  return collector.failed() ? kExitFailed : kExitDone;
}

int RunInVirtualTime(const TfrcPlan& plan, const std::vector<TfrcCell>& cells, Results* results) {
  using Clock = std::chrono::steady_clock;
  std::vector<TfrcJob> jobs = JobsLeft(plan, cells, *results);
  // The dear ones first, so that the threads end together.
  std::stable_sort(jobs.begin(), jobs.end(), [&](const TfrcJob& a, const TfrcJob& b) {
    return cells[a.cell].EquationPackets() > cells[b.cell].EquationPackets();
  });
  double all = 0;
  for (const TfrcJob& job : jobs) all += cells[job.cell].EquationPackets();
  const Clock::time_point start = Clock::now();
  Clock::time_point saved = start;
  StatusLine status;
  double done = 0;
  std::vector<Json> runs(jobs.size());
  std::vector<Results::CellRun> fresh;
  std::string error;
  const auto keep = [&] {
    if (!fresh.empty() && error.empty()) results->Add(fresh, &error);
    fresh.clear();
    saved = Clock::now();
  };
  dccp::lab::RunJobs(
      jobs.size(), dccp::lab::DefaultThreads(),
      [&](std::size_t i) {
        const TfrcCell& cell = cells[jobs[i].cell];
        runs[i] = SimulateRun(plan, cell, SeedOf(plan, cell, jobs[i].repeat), Interrupted);
      },
      [&](std::size_t i) {
        const TfrcCell& cell = cells[jobs[i].cell];
        if (!runs[i].is_null()) fresh.push_back({CellToJson(plan, cell), std::move(runs[i])});
        done += cell.EquationPackets();
        const double passed = std::chrono::duration<double>(Clock::now() - start).count();
        if (passed > 2 && !Interrupted())
          status.Show(fmt::format("{} of {} runs: {} left", i + 1, jobs.size(),
                                  TimeText(passed / done * (all - done))));
        if (Clock::now() - saved > std::chrono::seconds(5)) keep();
      });
  keep();
  return error.empty() ? kExitDone : Fail(kTool, error);
}

// Whether this process may build what the plan needs, which may change what it is. Of all
// topologies those that it may not are left out, and that is said; else false with `*error` filled.
bool MayBuild(const TfrcOptions& options, TfrcPlan* plan, std::string* error) {
  const std::vector<TfrcCell> cells = CellsOf(*plan);
  const bool hosts =
      std::any_of(cells.begin(), cells.end(), [](const TfrcCell& c) { return c.native(); });
  if (!hosts || plan->simulate || MayMakeNetworks(error)) return true;
  if (options.topologies != std::vector<std::string>{"all"}) return false;
  Put(stderr, fmt::format("{}: no router and no bridge: {}\n", kTool, *error));
  plan->topologies = {"relay"};
  return true;
}

int RunTfrc(const TfrcOptions& options) {
  TfrcPlan plan;
  if (const std::string fault = Understand(options, &plan); !fault.empty())
    return FailUsage(kTool, fault);
  std::string error;
  if (!MayBuild(options, &plan, &error)) return Fail(kTool, error);
  const std::vector<TfrcCell> cells = CellsOf(plan);
  if (cells.empty()) return FailUsage(kTool, "--only: no cell has such an id");
  std::optional<Results> results =
      Results::Open(options.out, PlanToJson(plan), options.resume, &error);
  if (!results) return Fail(kTool, error);
  CatchInterrupts();
  int code = plan.simulate ? RunInVirtualTime(plan, cells, &*results)
                           : RunInRealTime(plan, cells, options.at_once, &*results);
  std::vector<std::string> ids;
  for (const TfrcCell& cell : cells) ids.push_back(cell.id);
  results->Order(ids);
  const Json& document = results->document();
  if (!document["cells"].empty() && !results->SetSummary(TfrcSummary(document), &error))
    return Fail(kTool, error);
  std::FILE* const text = options.json && options.json_file == "-" ? stderr : stdout;
  Put(text, TfrcTable(document));
  Put(text, fmt::format("{}\n", results->path()));
  WriteReportBeside(*results, text);
  if (options.json && !WriteJson(options.json_file, document, &error)) code = Fail(kTool, error);
  if (Interrupted())
    return Fail(kTool, fmt::format("interrupted; --resume --out {} goes on", options.out));
  return code;
}

}  // namespace

void AddTfrc(CLI::App* app, Command* run) {
  const auto o = std::make_shared<TfrcOptions>();
  CLI::App* const sub = app->add_subcommand(
      "tfrc", "CCID 3 against the throughput equation, beside the measurement of 2008");
  sub->add_option("--topology", o->topologies, "relay, router, bridge; all that may be had (relay)")
      ->delimiter(',');
  sub->add_option("--paths", o->paths, "RTT/LOSS (40ms/1%,150ms/1%,150ms/10%)")->delimiter(',');
  sub->add_flag("--extended", o->extended, "More paths");
  sub->add_option("--sizes", o->sizes, "Payload bytes (1440 or by IPv6 1420, 256, 32)")
      ->delimiter(',');
  sub->add_flag("-4", o->only_v4, "IPv4 only");
  sub->add_flag("-6", o->only_v6, "IPv6 only");
  sub->add_option("--only", o->only, "Cells whose id has one of these parts")->delimiter(',');
  sub->add_option("--seconds", o->seconds, "Length of a run (300)");
  sub->add_option("--omit", o->omit, "Seconds before that which do not count (30)");
  sub->add_option("--repeat", o->repeat, "Runs of each cell (10)")->check(CLI::Range(1, 1000));
  sub->add_option("--at-once", o->at_once, "At most N runs at the same time (what the CPU carries)")
      ->check(CLI::Range(1, 10'000));
  sub->add_option("--seed", o->seed, "Of the losses (1)");
  sub->add_flag("--simulate", o->simulate, "In virtual time");
  sub->add_option("--out", o->out, "Folder of the results (dccp-lab-tfrc)");
  sub->add_flag("--resume", o->resume, "Go on with the results that are there");
  const CLI::Option* const json =
      AddOptionalValue(sub, "--json", &o->json_file, "One JSON document ([=FILE])");
  sub->callback([o, json, run] {
    o->json = json->count() != 0;
    *run = [o] { return RunTfrc(*o); };
  });
}

}  // namespace dccp::apps::lab
