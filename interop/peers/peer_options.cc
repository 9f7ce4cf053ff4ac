#include "interop/peers/peer_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/common/parse.h"
#include "apps/common/runtime.h"

namespace dccp::interop {
namespace {

Duration Seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

struct Texts {
  std::string role;
  std::string address;
  std::string bind;
  std::string ccids;
  std::string size = "500";
  double seconds = -1;
  double pause = 0;
  double omit = 0;
  double wait = 20;
  double connect_wait = 30;
  double quiet = 0.3;
  double user_timeout = 0;
  double keep_alive = 0;
  double linger = 0.3;
};

void Declare(CLI::App* app, PeerOptions* out, Texts* texts) {
  app->add_option("ROLE", texts->role)->required()->check(CLI::IsMember({"listen", "connect"}));
  app->add_option("ADDRESS", texts->address)->required();
  app->add_option("PORT", out->port)->required();
  app->add_option("--tun", out->tun);
  app->add_option("--bind", texts->bind);
  app->add_option("--ccids", texts->ccids);
  app->add_option("--service", out->service);
  app->add_option("--send", out->send);
  app->add_option("--size", texts->size);
  app->add_option("--rate", out->rate);
  app->add_option("--seconds", texts->seconds);
  app->add_option("--pause", texts->pause);
  app->add_option("--omit", texts->omit);
  app->add_option("--wait", texts->wait);
  app->add_option("--connect-wait", texts->connect_wait);
  app->add_option("--quiet", texts->quiet);
  app->add_option("--user-timeout", texts->user_timeout);
  app->add_option("--keep-alive", texts->keep_alive);
  app->add_option("--linger", texts->linger);
  app->add_option("--cscov", out->coverage);
  app->add_option("--sequence-window", out->sequence_window);
  app->add_flag("--expect", out->expect);
  app->add_flag("--icmp-only", out->icmp_only);
  app->add_flag("--timewait", out->timewait);
}

// Empty when all is well.
std::string Understand(const Texts& texts, PeerOptions* out) {
  out->server = texts.role == "listen";
  if (!ParseAddress(texts.address, &out->address)) return texts.address + " is no address";
  out->has_bind = !texts.bind.empty();
  if (out->has_bind && !ParseAddress(texts.bind, &out->bind)) return texts.bind + " is no address";
  std::string error;
  if (!texts.ccids.empty()) {
    out->ccids = apps::ParseCcids(texts.ccids, apps::ToolRegistry(), &error);
    if (out->ccids.empty()) return error;
  }
  if (texts.size != "mps") {
    const auto size = apps::ParseSize(texts.size);
    if (!size || *size < 12 || *size > 65535) return texts.size + " is no size";
    out->size = static_cast<std::uint32_t>(*size);
  }
  if (texts.seconds >= 0) {
    out->send = -1;
    out->seconds = Seconds(texts.seconds);
  }
  out->pause = Seconds(texts.pause);
  out->omit = Seconds(texts.omit);
  out->wait = Seconds(texts.wait);
  out->connect_wait = Seconds(texts.connect_wait);
  out->quiet = Seconds(texts.quiet);
  out->user_timeout = Seconds(texts.user_timeout);
  out->keep_alive = Seconds(texts.keep_alive);
  out->linger = Seconds(texts.linger);
  return {};
}

}  // namespace

bool ParsePeerOptions(int argc, char** argv, PeerOptions* out, int* exit_code) {
  CLI::App app("One end of an interop connection, on the library.", "stack_peer");
  Texts texts;
  Declare(&app, out, &texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  const std::string wrong = Understand(texts, out);
  if (wrong.empty()) return true;
  std::fprintf(stderr, "stack_peer: %s\n", wrong.c_str());
  *exit_code = 2;
  return false;
}

}  // namespace dccp::interop
