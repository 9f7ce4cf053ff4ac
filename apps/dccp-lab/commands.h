// The subcommands of dccp-lab: each adds its options and runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace dccp::apps::lab {

// Adds the subcommand to `app`; `*run` becomes what it does when it was chosen.
using Command = std::function<int()>;
void AddSizes(CLI::App* app, Command* run);
void AddForward(CLI::App* app, Command* run);
void AddTfrc(CLI::App* app, Command* run);
void AddRun(CLI::App* app, Command* run);
// Those that measure: they may stand in a plan.
void AddExperiments(CLI::App* app, Command* run);
void AddCompare(CLI::App* app, Command* run);
void AddReport(CLI::App* app, Command* run);
void AddPlainUdp(CLI::App* app, Command* run);

}  // namespace dccp::apps::lab
