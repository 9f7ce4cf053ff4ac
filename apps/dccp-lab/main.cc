// dccp-lab: measures, repeats, and tells what the figures mean.
#include <CLI/CLI.hpp>

#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"

int main(int argc, char** argv) {
  using namespace dccp::apps;
  return Guarded("dccp-lab", [&]() -> int {
    CLI::App app("Runs measurements of DCCP and compares their results.", "dccp-lab");
    app.require_subcommand(1);
    lab::Command run;
    lab::AddExperiments(&app, &run);
    lab::AddRun(&app, &run);
    lab::AddCompare(&app, &run);
    lab::AddReport(&app, &run);
    lab::AddPlainUdp(&app, &run);
    if (const int code = ParseArguments(&app, UDCCP_VERSION, argc, argv); code >= 0) return code;
    return run();
  });
}
