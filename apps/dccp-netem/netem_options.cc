#include "apps/dccp-netem/netem_options.h"

#include <fmt/format.h>

#include "apps/common/tool.h"
#include "stack/io/os_random.h"

namespace dccp::apps::netem {

void AddNetemOptions(CLI::App* app, NetemOptions* o) {
  app->require_subcommand(1);
  app->fallthrough();
  o->udp = app->add_subcommand("udp", "Relay UDP datagrams; needs no privileges");
  o->udp->add_option("--listen", o->listen_text, "ADDRESS[:PORT] that clients send to")->required();
  o->udp->add_option("--to", o->to_text, "HOST:PORT of the server")->required();
  o->udp->add_option("--max-clients", o->max_clients, "At most N clients at a time (1024)")
      ->check(CLI::Range(1, 60000));
  o->udp->add_option("--idle", o->idle_text, "Forget a client after S silent seconds (300)");
  o->bridge = app->add_subcommand("bridge", "Pass Ethernet frames between two interfaces");
  o->router = app->add_subcommand("router", "Route IP packets between two interfaces");
  for (CLI::App* link : {o->bridge, o->router}) {
    link->add_option("IF1", o->interfaces[0], "One interface")->required();
    link->add_option("IF2", o->interfaces[1], "The other; forward is from IF1 to it")->required();
  }
  AddPathOptions(app, &o->path);
  o->seed_option = app->add_option("--seed", o->emulation.seed, "Repeat the same random choices");
  app->add_option("--seconds", o->seconds_text, "End after S seconds");
  app->add_option("-i,--interval", o->interval_text, "Seconds between reports (0: none)");
  app->add_option("--grain", o->grain_text,
                  "Wake up at most once in T; packets leave up to T late (50us)");
  app->add_option("--memory", o->memory_text, "Most that packets under way may take (256M)");
  app->add_flag("--realtime", o->realtime, "Real-time scheduling; needs CAP_SYS_NICE");
  o->json = AddOptionalValue(app, "--json", &o->json_file, "One JSON document ([=FILE])");
  o->json_stream = AddOptionalValue(app, "--json-stream", &o->json_stream_file,
                                    "One JSON line an event ([=FILE])");
}

namespace {

std::string ReadTime(const char* name, const std::string& text, Duration least, Duration* out) {
  const std::optional<Duration> value = ParseTime(text);
  if (!value || (*value != Duration::zero() && *value < least))
    return fmt::format("{}: '{}' is no time of that use", name, text);
  *out = *value;
  return "";
}

std::string UnderstandTimes(NetemOptions* o) {
  const auto ms = [](int n) { return std::chrono::milliseconds(n); };
  if (std::string fault = ReadTime("--idle", o->idle_text, ms(100), &o->idle); !fault.empty())
    return fault;
  if (o->idle == Duration::zero()) return "--idle: 0 would forget every client at once";
  if (std::string fault = ReadTime("--grain", o->grain_text, Duration(1), &o->grain);
      !fault.empty())
    return fault;
  if (o->grain > ms(10)) return "--grain: more than 10ms is no emulation";
  if (std::string fault = ReadTime("--interval", o->interval_text, ms(10), &o->interval);
      !fault.empty())
    return fault;
  if (o->seconds_text.empty()) return "";
  return ReadTime("--seconds", o->seconds_text, ms(1), &o->seconds);
}

std::string UnderstandRelay(NetemOptions* o) {
  const std::optional<HostPort> listen = ParseHostPort(o->listen_text);
  if (!listen)
    return fmt::format("--listen: '{}' is neither ADDRESS nor ADDRESS:PORT", o->listen_text);
  const std::optional<HostPort> to = ParseHostPort(o->to_text);
  if (!to || to->port == 0) return fmt::format("--to: '{}' is not HOST:PORT", o->to_text);
  o->listen = *listen;
  o->to = *to;
  return "";
}

}  // namespace

std::string UnderstandNetemOptions(NetemOptions* o) {
  o->mode = o->udp->parsed() ? Mode::kUdp : (o->bridge->parsed() ? Mode::kBridge : Mode::kRouter);
  if (o->mode == Mode::kUdp) {
    if (std::string fault = UnderstandRelay(o); !fault.empty()) return fault;
  } else if (o->interfaces[0] == o->interfaces[1]) {
    return "two different interfaces are needed";
  }
  std::string error;
  const std::optional<PathConfig> forward =
      UnderstandPath(o->path.both, o->path.forward, "fwd-", &error);
  if (!forward) return error;
  const std::optional<PathConfig> reverse =
      UnderstandPath(o->path.both, o->path.reverse, "rev-", &error);
  if (!reverse) return error;
  o->emulation.forward = *forward;
  o->emulation.reverse = *reverse;
  if (std::string fault = UnderstandTimes(o); !fault.empty()) return fault;
  const std::optional<std::uint64_t> memory = ParseSize(o->memory_text);
  if (!memory || *memory < (1u << 20) || *memory > (std::uint64_t{1} << 40))
    return fmt::format("--memory: '{}' is no size of at least 1M", o->memory_text);
  o->emulation.memory_bytes = static_cast<std::size_t>(*memory);
  if (o->json->count() != 0 && o->json_stream->count() != 0 && o->json_file == o->json_stream_file)
    return "--json and --json-stream need different files";
  if (o->seed_option->count() == 0) {
    OsRandom random;
    // Short enough to be typed again.
    o->emulation.seed = random.NextUint64() & 0xFFFFFFFFu;
  }
  return "";
}

}  // namespace dccp::apps::netem
