// dccp-lab sizes.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/common/parse.h"
#include "apps/common/runtime.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/progress.h"
#include "apps/dccp-lab/report_page.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/scratch.h"
#include "apps/dccp-lab/sizes_plan.h"
#include "apps/dccp-lab/sizes_run.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";

struct SizesOptions {
  std::vector<std::string> sizes;
  std::vector<int> ccids;
  std::vector<std::string> encaps;
  std::vector<std::string> only;
  std::string seconds = "3";
  std::string omit = "1";
  std::size_t repeat = 3;
  bool only_v4 = false;
  bool only_v6 = false;
  bool resume = false;
  std::string out = "dccp-lab-sizes";
};

bool MayUseRawSockets() {
  const UniqueFd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, kProtocolNumber));
  return fd.valid();
}

// Empty when all is well.
std::string Understand(const SizesOptions& o, SizesPlan* plan) {
  if (!o.sizes.empty()) plan->sizes.clear();
  for (const std::string& text : o.sizes) {
    const std::optional<std::uint64_t> size = ParseSize(text);
    if (!size || *size < 12 || *size > 65'000)
      return fmt::format("--sizes: '{}' is no size from 12 to 65000", text);
    plan->sizes.push_back(static_cast<std::size_t>(*size));
  }
  if (!o.ccids.empty()) plan->ccids = o.ccids;
  for (const int ccid : plan->ccids)
    if (ToolRegistry().Find(static_cast<CcidId>(ccid)) == nullptr)
      return fmt::format("--ccid: CCID {} is not available in this program", ccid);
  if (o.only_v4 && o.only_v6) return "-4 and -6 exclude each other";
  if (o.only_v4) plan->families = {IpFamily::kV4};
  if (o.only_v6) plan->families = {IpFamily::kV6};
  if (!o.encaps.empty()) plan->encaps = o.encaps;
  for (const std::string& encap : plan->encaps)
    if (encap != "udp" && encap != "native")
      return fmt::format("--encap: '{}' is neither udp nor native", encap);
  const std::optional<Duration> seconds = ParseTime(o.seconds);
  const std::optional<Duration> omit = ParseTime(o.omit);
  if (!seconds || *seconds < std::chrono::milliseconds(100))
    return fmt::format("--seconds: '{}' is no time of at least 0.1", o.seconds);
  if (!omit) return fmt::format("--omit: '{}' is no time", o.omit);
  plan->seconds = std::chrono::duration<double>(*seconds).count();
  plan->omit = std::chrono::duration<double>(*omit).count();
  plan->repeat = o.repeat;
  plan->only = o.only;
  return "";
}

std::string TableHead() {
  return fmt::format("{:<22} {:>5} {:>12} {:>10} {:>11} | {:>8} {:>8} | {:>8} {:>8}\n", "cell",
                     "runs", "Mbit/s", "+- (95 %)", "packets/s", "sender %", "us/pkt", "recv. %",
                     "us/pkt");
}

std::string TableRow(const Json& cell) {
  const auto number = [](const Json& value, double scale, int digits) {
    return value.is_number() ? fmt::format("{:.{}f}", value.get<double>() * scale, digits)
                             : std::string("-");
  };
  const double bits = cell["payload_bytes"].get<double>() * 8;
  const Json& cpu = cell["cpu"];
  return fmt::format("{:<22} {:>5} {:>12} {:>10} {:>11} | {:>8} {:>8} | {:>8} {:>8}\n",
                     cell["id"].get<std::string>(), cell["runs"].size(),
                     number(cell["mean_bps"], 1e-6, 2), number(cell["ci95_bps"], 1e-6, 2),
                     number(cell["mean_bps"], 1 / bits, 0), number(cpu["sender"], 1, 1),
                     number(cpu["sender_us_per_packet"], 1, 2), number(cpu["receiver"], 1, 1),
                     number(cpu["receiver_us_per_packet"], 1, 2));
}

// All runs of all cells, one round after the other, so that what changes with time does not fall on
// one cell alone. The exit code.
int RunAll(const SizesPlan& plan, const std::vector<SizesCell>& cells, Results* results) {
  const Scratch scratch;
  if (scratch.path().empty())
    return Fail(kTool, fmt::format("cannot make a folder for output: {}", ErrnoText()));
  const std::string programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  SizesRun runner(plan, programs, scratch.path(), Interrupted);
  std::size_t wanted = 0;
  for (const SizesCell& cell : cells)
    wanted += plan.repeat - std::min(plan.repeat, results->runs(cell.id));
  Progress progress(wanted, plan.seconds + plan.omit + 0.3);
  std::string error;
  std::vector<std::string> failures;
  for (std::size_t round = 0; round < plan.repeat && !Interrupted(); ++round) {
    for (const SizesCell& cell : cells) {
      if (results->runs(cell.id) > round) continue;
      if (Interrupted()) break;
      progress.Begin(cell.id);
      const std::optional<Json> run = runner.Run(cell, &error);
      progress.End();
      if (Interrupted()) break;
      if (!run) {
        progress.Clear();
        Fail(kTool, fmt::format("{}: {}", cell.id, error));
        failures.push_back(cell.id);
        continue;
      }
      if (!results->Add(CellToJson(plan, cell), *run, &error)) return Fail(kTool, error);
    }
  }
  progress.Clear();
  Put(stdout, TableHead());
  for (const Json& cell : results->document()["cells"]) Put(stdout, TableRow(cell));
  Put(stdout, fmt::format("{}\n", results->path()));
  WriteReportBeside(*results);
  if (Interrupted())
    return Fail(kTool, fmt::format("interrupted; --resume --out {} goes on",
                                   std::filesystem::path(results->path()).parent_path().string()));
  return failures.empty() ? kExitDone : kExitFailed;
}

int RunSizes(const SizesOptions& options) {
  SizesPlan plan;
  if (const std::string fault = Understand(options, &plan); !fault.empty())
    return FailUsage(kTool, fault);
  if (!MayUseRawSockets() && std::erase(plan.encaps, "native") != 0) {
    if (!options.encaps.empty())
      return Fail(kTool,
                  "--encap native needs CAP_NET_RAW: run as root, or "
                  "'setcap cap_net_raw+ep' dccp-send, dccp-recv and dccp-lab");
    Put(stderr, "dccp-lab: no native cells: they need CAP_NET_RAW\n");
  }
  const std::vector<SizesCell> cells = CellsOf(plan);
  if (cells.empty()) return FailUsage(kTool, "--only: no cell has such an id");
  std::string error;
  std::optional<Results> results =
      Results::Open(options.out, PlanToJson(plan), options.resume, &error);
  if (!results) return Fail(kTool, error);
  CatchInterrupts();
  return RunAll(plan, cells, &*results);
}

}  // namespace

void AddSizes(CLI::App* app, Command* run) {
  const auto o = std::make_shared<SizesOptions>();
  CLI::App* const sub =
      app->add_subcommand("sizes", "Throughput and CPU time by payload size, over loopback");
  sub->add_option("--sizes", o->sizes, "Payload bytes (32,128,512,1440,8900)")->delimiter(',');
  sub->add_option("--ccid", o->ccids, "Congestion control (2,3,4)")->delimiter(',');
  sub->add_option("--encap", o->encaps, "udp, native (both)")->delimiter(',');
  sub->add_flag("-4", o->only_v4, "IPv4 only");
  sub->add_flag("-6", o->only_v6, "IPv6 only");
  sub->add_option("--only", o->only, "Cells whose id has one of these parts")->delimiter(',');
  sub->add_option("--seconds", o->seconds, "Length of a run (3)");
  sub->add_option("--omit", o->omit, "Seconds before that which do not count (1)");
  sub->add_option("--repeat", o->repeat, "Runs of each cell (3)")->check(CLI::Range(1, 1000));
  sub->add_option("--out", o->out, "Folder of the results (dccp-lab-sizes)");
  sub->add_flag("--resume", o->resume, "Go on with the results that are there");
  sub->callback([o, run] { *run = [o] { return RunSizes(*o); }; });
}

}  // namespace dccp::apps::lab
