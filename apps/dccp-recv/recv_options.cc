#include "apps/dccp-recv/recv_options.h"

#include <fmt/format.h>

#include <limits>

#include "apps/common/runtime.h"

namespace dccp::apps {

void AddRecvOptions(CLI::App* app, RecvOptions* o) {
  app->add_flag("-1,--one-off", o->one_off, "Take one connection, then end");
  app->add_option("-o,--output", o->output_file,
                  "Write payload to a file, or with - to the standard output");
  app->add_flag("--framed", o->framed, "Write a 4-byte length before each datagram");
  app->add_option("--hashes", o->hashes_file, "Write index, length and SHA-256 of each datagram");
  app->add_flag("--echo", o->echo, "Send every datagram back");
  app->add_option("--max-connections", o->max_connections, "Take at most N connections at a time")
      ->check(CLI::Range(1, 65536));
  app->add_flag("--reverse-ok", o->reverse_ok, "Send when a client asks for it (dccp-send -R)");
  app->add_option("--cookies", o->cookies_text,
                  "Keep no half-open connections: auto (under load, the default), always, never");
  AddCommonOptions(app, &o->common);
}

std::string UnderstandRecvOptions(RecvOptions* o) {
  if (std::string fault = UnderstandCommonOptions(ToolRegistry(), &o->common); !fault.empty())
    return fault;
  if (o->framed && o->output_file.empty()) return "--framed needs --output";
  if (!o->output_file.empty() && o->max_connections > 1)
    return "--output takes one connection at a time";
  if (!o->output_file.empty() || !o->hashes_file.empty()) o->max_connections = 1;
  if (o->cookies_text == "always") {
    o->cookies_above = 0;
  } else if (o->cookies_text == "never") {
    o->cookies_above = std::numeric_limits<std::uint32_t>::max();
  } else if (o->cookies_text != "auto") {
    return fmt::format("--cookies: '{}' is none of auto, always and never", o->cookies_text);
  }
  return "";
}

}  // namespace dccp::apps
