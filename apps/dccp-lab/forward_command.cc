// dccp-lab forward.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/common/parse.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/forward_plan.h"
#include "apps/dccp-lab/forward_rules.h"
#include "apps/dccp-lab/forward_run.h"
#include "apps/dccp-lab/forward_table.h"
#include "apps/dccp-lab/host_cpu.h"
#include "apps/dccp-lab/progress.h"
#include "apps/dccp-lab/report_page.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/scratch.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";
constexpr std::size_t kMostRules = 100'000;
// A blast and the trials of a search, for the first guess of the time left.
constexpr double kExpectedTrials = 8;
constexpr double kTrialOverhead = 0.4;
constexpr double kBusy = 20;  // percent of all cores

struct ForwardOptions {
  std::vector<std::string> sizes;
  std::vector<std::string> topologies;
  std::vector<std::string> firewalls;
  std::vector<std::string> traffic;
  std::vector<std::string> only;
  std::string seconds = "1";
  std::string omit = "0.2";
  std::string max_loss = "0.1%";
  std::size_t rules = 100;
  std::size_t repeat = 3;
  bool v4 = false;
  bool v6 = false;
  bool resume = false;
  std::string out = "dccp-lab-forward";
};

// `*values` becomes those of `all` whose names were typed, in that order; untouched where none was.
template <typename Value>
std::string Choose(const char* option, const std::vector<std::string>& typed,
                   std::initializer_list<Value> all, std::vector<Value>* values) {
  if (typed.empty()) return "";
  values->clear();
  std::string names;
  for (const Value value : all) names += (names.empty() ? "" : ", ") + std::string(NameOf(value));
  for (const std::string& text : typed) {
    bool found = false;
    for (const Value value : all) {
      if (text != NameOf(value)) continue;
      values->push_back(value);
      found = true;
    }
    if (!found) return fmt::format("{}: '{}' is none of {}", option, text, names);
  }
  return "";
}

std::string ChooseSizes(const std::vector<std::string>& typed, std::vector<std::size_t>* sizes) {
  if (!typed.empty()) sizes->clear();
  for (const std::string& text : typed) {
    const std::optional<std::uint64_t> size = ParseSize(text);
    if (!size || *size < 64 || *size > 1518)
      return fmt::format("--sizes: '{}' is no Ethernet frame of 64 to 1518 bytes", text);
    sizes->push_back(static_cast<std::size_t>(*size));
  }
  return "";
}

// Empty when all is well.
std::string Understand(const ForwardOptions& o, ForwardPlan* plan) {
  std::string fault = ChooseSizes(o.sizes, &plan->sizes);
  if (fault.empty())
    fault = Choose("--topology", o.topologies, {Between::kKernelBridge, Between::kKernelRouter},
                   &plan->between);
  if (fault.empty())
    fault = Choose("--firewall", o.firewalls,
                   {Firewall::kNone, Firewall::kNft, Firewall::kIptables}, &plan->firewalls);
  if (fault.empty())
    fault = Choose("--traffic", o.traffic, {Traffic::kPlain, Traffic::kUdp, Traffic::kNative},
                   &plan->traffic);
  if (!fault.empty()) return fault;
  if (o.v4 || o.v6) plan->families.clear();
  if (o.v4) plan->families.push_back(IpFamily::kV4);
  if (o.v6) plan->families.push_back(IpFamily::kV6);
  const std::optional<Duration> seconds = ParseTime(o.seconds);
  const std::optional<Duration> omit = ParseTime(o.omit);
  if (!seconds || *seconds < std::chrono::milliseconds(100))
    return fmt::format("--seconds: '{}' is no time of at least 0.1", o.seconds);
  if (!omit) return fmt::format("--omit: '{}' is no time", o.omit);
  const std::optional<double> loss = ParseLoss(o.max_loss);
  if (!loss || *loss >= 1) return fmt::format("--max-loss: '{}' is no loss below 1", o.max_loss);
  plan->seconds = std::chrono::duration<double>(*seconds).count();
  plan->omit = std::chrono::duration<double>(*omit).count();
  plan->max_loss = *loss;
  plan->rules = o.rules;
  plan->repeat = o.repeat;
  plan->only = o.only;
  if (plan->rules == 0)
    std::erase_if(plan->firewalls, [](Firewall f) { return f != Firewall::kNone; });
  return plan->firewalls.empty() ? "--rules 0 leaves nothing of --firewall" : "";
}

// Tries every way through once with one rule. What cannot be had goes from `cells` and gets a line
// in `missing`.
void DropMissing(const std::string& scratch, std::vector<ForwardCell>* cells,
                 std::vector<std::string>* missing) {
  std::vector<ForwardCell> kept;
  std::string way;
  std::string error;
  for (const ForwardCell& cell : *cells) {
    const std::string this_way = fmt::format("v{}-{}-{}", static_cast<int>(cell.family),
                                             NameOf(cell.between), NameOf(cell.firewall));
    if (this_way != way) {
      way = this_way;
      error.clear();
      const std::unique_ptr<TestBed> bed = BuildForwardBed(cell, &error);
      if (bed != nullptr && cell.family == IpFamily::kV6 && !bed->has_v6())
        error = "this kernel has no IPv6";
      const bool good =
          bed != nullptr && error.empty() &&
          InstallRules(bed.get(), cell.between, cell.firewall, cell.family, 1, scratch, &error) &&
          WarmUp(bed.get(), cell.family, &error);
      if (!good) missing->push_back(fmt::format("{}: {}", way, error));
    }
    if (error.empty()) kept.push_back(cell);
  }
  *cells = std::move(kept);
}

// All runs of all cells, one round after the other, so that what changes with time does not fall on
// one cell alone. False when something failed.
bool RunAll(const ForwardPlan& plan, const std::vector<ForwardCell>& cells,
            const std::string& scratch, Results* results) {
  const std::string programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  ForwardRun runner(plan, programs, scratch, Interrupted);
  std::size_t wanted = 0;
  for (const ForwardCell& cell : cells)
    wanted += plan.repeat - std::min(plan.repeat, results->runs(cell.id));
  Progress progress(wanted, kExpectedTrials * (plan.seconds + plan.omit + kTrialOverhead));
  bool good = true;
  for (std::size_t round = 0; round < plan.repeat; ++round) {
    for (const ForwardCell& cell : cells) {
      if (results->runs(cell.id) > round) continue;
      if (Interrupted()) return good;
      progress.Begin(cell.id);
      std::string error;
      const std::optional<Json> run = runner.Run(cell, &error);
      progress.End();
      if (Interrupted()) return good;
      if (run && results->Add(CellToJson(plan, cell), *run, &error)) continue;
      progress.Clear();
      Fail(kTool, fmt::format("{}: {}", cell.id, error));
      good = false;
    }
  }
  return good;
}

void PrintTables(const ForwardPlan& plan, const Results& results,
                 const std::vector<std::string>& missing) {
  if (!results.document()["cells"].empty()) {
    Put(stdout, ForwardMatrix(results.document()));
    Put(stdout, fmt::format("\nHighest rate with at most {:g} % loss, of frames; the blast is what "
                            "arrives of all that the\nsender can send. CPU of both ends and of the "
                            "host (all cores; softirq, mostly forwarding, is part\nof it and, over "
                            "these cables, of the sender's too) at that rate.\n\n",
                            100 * plan.max_loss));
    Put(stdout, ForwardRows(results.document()));
  }
  for (const std::string& line : missing) Put(stdout, fmt::format("not measured: {}\n", line));
  Put(stdout, fmt::format("{}\n", results.path()));
}

int RunForward(const ForwardOptions& options) {
  ForwardPlan plan;
  if (const std::string fault = Understand(options, &plan); !fault.empty())
    return FailUsage(kTool, fault);
  std::vector<std::string> missing;
  std::vector<ForwardCell> cells = CellsOf(plan, &missing);
  if (cells.empty())
    return FailUsage(kTool, missing.empty() ? "--only: no cell has such an id" : missing.front());
  std::string error;
  if (!MayMakeNetworks(&error)) return Fail(kTool, error);
  const Scratch scratch;
  if (scratch.path().empty())
    return Fail(kTool, fmt::format("cannot make a folder for output: {}", ErrnoText()));
  CatchInterrupts();
  const std::size_t impossible = missing.size();
  DropMissing(scratch.path(), &cells, &missing);
  // What was asked for by name must be there.
  const bool asked = !options.topologies.empty() || !options.firewalls.empty() || options.v6;
  if (missing.size() > impossible && (asked || cells.empty()))
    return Fail(kTool, missing[impossible]);
  for (const std::string& line : missing) Put(stderr, fmt::format("not measured: {}\n", line));
  Json document_plan = PlanToJson(plan);
  std::optional<Results> results =
      Results::Open(options.out, document_plan, options.resume, &error);
  if (!results) return Fail(kTool, error);
  if (const double busy = BusyPercent(); busy > kBusy)
    Put(stderr, fmt::format("this machine is {:.0f} % busy with other work, which is in every "
                            "figure: stop that first\n",
                            busy));
  const bool good = RunAll(plan, cells, scratch.path(), &*results);
  PrintTables(plan, *results, missing);
  WriteReportBeside(*results);
  if (Interrupted())
    return Fail(kTool, fmt::format("interrupted; --resume --out {} goes on",
                                   std::filesystem::path(results->path()).parent_path().string()));
  return good ? kExitDone : kExitFailed;
}

}  // namespace

void AddForward(CLI::App* app, Command* run) {
  const auto o = std::make_shared<ForwardOptions>();
  CLI::App* const sub = app->add_subcommand(
      "forward", "Forwarding by the kernel: bridge and router, firewall rules, frame sizes");
  sub->add_option("--sizes", o->sizes, "Frame bytes (64,128,256,512,1024,1280,1518)")
      ->delimiter(',');
  sub->add_option("--topology", o->topologies, "bridge, router (both)")->delimiter(',');
  sub->add_option("--firewall", o->firewalls, "none, nft, iptables (those that are there)")
      ->delimiter(',');
  sub->add_option("--rules", o->rules, "Rules that each packet passes (100)")
      ->check(CLI::Range(std::size_t{0}, kMostRules));
  sub->add_option("--traffic", o->traffic, "plain, udp, native (plain,udp)")->delimiter(',');
  sub->add_flag("-4", o->v4, "IPv4 (alone, unless -6 is given too)");
  sub->add_flag("-6", o->v6, "IPv6");
  sub->add_option("--max-loss", o->max_loss, "Loss that a rate may have (0.1%)");
  sub->add_option("--only", o->only, "Cells whose id has one of these parts")->delimiter(',');
  sub->add_option("--seconds", o->seconds, "Length of a trial (1)");
  sub->add_option("--omit", o->omit, "Seconds before that which do not count (0.2)");
  sub->add_option("--repeat", o->repeat, "Searches of each cell (3)")->check(CLI::Range(1, 1000));
  sub->add_option("--out", o->out, "Folder of the results (dccp-lab-forward)");
  sub->add_flag("--resume", o->resume, "Go on with the results that are there");
  sub->callback([o, run] { *run = [o] { return RunForward(*o); }; });
}

}  // namespace dccp::apps::lab
