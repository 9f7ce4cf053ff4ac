// dccp-recv: receives what dccp-send sends.
#include <CLI/CLI.hpp>
#include <string>

#include "apps/common/tool.h"
#include "apps/dccp-recv/recv_app.h"
#include "apps/dccp-recv/recv_options.h"

int main(int argc, char** argv) {
  using namespace dccp::apps;
  return Guarded("dccp-recv", [&]() -> int {
    CLI::App app("Listens for DCCP connections and receives what they carry.", "dccp-recv");
    RecvOptions options;
    AddRecvOptions(&app, &options);
    if (const int code = ParseArguments(&app, UDCCP_VERSION, argc, argv); code >= 0) return code;
    if (const std::string fault = UnderstandRecvOptions(&options); !fault.empty())
      return FailUsage("dccp-recv", fault);
    return RecvApp(options).Run();
  });
}
