// accuracy: what the congestion control does, in virtual time, against what it should do.
//
// Exits with 0 when every target is met, 1 when one is missed, 2 when the command line is wrong.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "stack/lab/job_pool.h"
#include "tests/accuracy/report.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> sections;
  std::string only;
  std::uint64_t seed = 1;
  std::size_t seeds = 0;
  std::size_t jobs = lab::DefaultThreads();
  bool json = false;
  bool quiet = false;
  bool list = false;
};

struct Section {
  const char* name;
  std::vector<lab::Cell> (*cells)();
};
constexpr Section kSections[] = {{"equation", EquationCells},       {"dynamics", DynamicsCells},
                                 {"smoothness", SmoothnessCells},   {"fairness", FairnessCells},
                                 {"utilisation", UtilisationCells}, {"voice", VoiceCells}};

std::vector<lab::Cell> Choose(const Options& options) {
  std::vector<lab::Cell> chosen;
  for (const Section& section : kSections) {
    const auto& wanted = options.sections;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), section.name) == wanted.end())
      continue;
    for (lab::Cell& cell : section.cells()) {
      if (cell.name.find(options.only) == std::string::npos) continue;
      if (options.seeds > 0) cell.seeds = options.seeds;
      chosen.push_back(std::move(cell));
    }
  }
  return chosen;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// On one line, about once a second.
void ShowProgress(double share, Clock::time_point start, Clock::time_point* shown) {
  if (share < 1 && Clock::now() - *shown < std::chrono::seconds(1)) return;
  *shown = Clock::now();
  const double passed = SecondsSince(start);
  std::fprintf(stderr, "\r%3.0f %%, %.0f s passed, about %.0f s left   ", 100 * share, passed,
               passed / share - passed);
  if (share >= 1) std::fprintf(stderr, "\n");
}

int Run(const Options& options) {
  const std::vector<lab::Cell> cells = Choose(options);
  if (cells.empty()) {
    std::fprintf(stderr, "accuracy: nothing is named like that; see --list\n");
    return 2;
  }
  if (options.list) {
    for (const lab::Cell& cell : cells)
      std::printf("%-12s %3zu runs  %s\n", cell.section.c_str(), cell.seeds, cell.name.c_str());
    return 0;
  }
  const Clock::time_point start = Clock::now();
  Clock::time_point shown = start;
  lab::CellRunConfig config;
  config.first_seed = options.seed;
  config.threads = std::max<std::size_t>(options.jobs, 1);
  if (!options.quiet) config.progress = [&](double share) { ShowProgress(share, start, &shown); };
  const std::vector<lab::CellResult> results = lab::RunCells(cells, config);
  const ReportHead head = {options.seed, SecondsSince(start)};
  const std::string report = options.json ? JsonReport(results, head) : TextReport(results, head);
  std::fputs(report.c_str(), stdout);
  return CountVerdicts(results).missed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Accuracy, smoothness, fairness and utilisation of the congestion control, simulated"};
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  app.add_option("--section", options.sections, "Only this section; may be repeated")
      ->check(CLI::IsMember(names));
  app.add_option("--only", options.only, "Only cells whose name contains this");
  app.add_option("--seed", options.seed, "Run i of a cell has seed SEED + i")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Runs of each cell, instead of its own number");
  app.add_option("--jobs", options.jobs, "Threads")->capture_default_str();
  app.add_flag("--json", options.json, "Print JSON, with the value of each run");
  app.add_flag("--quiet", options.quiet, "No progress on stderr");
  app.add_flag("--list", options.list, "Only list the cells");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return Run(options);
}

}  // namespace
}  // namespace dccp::accuracy

int main(int argc, char** argv) {
  try {
    return dccp::accuracy::Main(argc, argv);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "accuracy: %s\n", fault.what());
    return 2;
  }
}
