// dccp-send: sends datagrams as fast as congestion control allows.
#include <CLI/CLI.hpp>
#include <string>

#include "apps/common/tool.h"
#include "apps/dccp-send/send_app.h"
#include "apps/dccp-send/send_options.h"

int main(int argc, char** argv) {
  using namespace dccp::apps;
  return Guarded("dccp-send", [&]() -> int {
    CLI::App app("Sends datagrams over DCCP, as fast as congestion control allows.", "dccp-send");
    SendOptions options;
    AddSendOptions(&app, &options);
    if (const int code = ParseArguments(&app, UDCCP_VERSION, argc, argv); code >= 0) return code;
    if (const std::string fault = UnderstandSendOptions(&options); !fault.empty())
      return FailUsage("dccp-send", fault);
    return SendApp(options).Run();
  });
}
