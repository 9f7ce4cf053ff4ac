// dccp-netem: emulates a network path in user space.
#include <CLI/CLI.hpp>
#include <string>

#include "apps/common/tool.h"
#include "apps/dccp-netem/netem_app.h"
#include "apps/dccp-netem/netem_options.h"

int main(int argc, char** argv) {
  using namespace dccp::apps;
  return Guarded("dccp-netem", [&]() -> int {
    CLI::App app("Delays, loses, limits and reorders packets as a real path would.", "dccp-netem");
    netem::NetemOptions options;
    netem::AddNetemOptions(&app, &options);
    if (const int code = ParseArguments(&app, UDCCP_VERSION, argc, argv); code >= 0) return code;
    if (const std::string fault = netem::UnderstandNetemOptions(&options); !fault.empty())
      return FailUsage("dccp-netem", fault);
    return netem::NetemApp(options).Run();
  });
}
