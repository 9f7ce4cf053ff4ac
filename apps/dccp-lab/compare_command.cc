// dccp-lab compare, and the hidden helper plain-udp.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/common/parse.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/compare.h"
#include "apps/dccp-lab/plain_udp.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";

struct CompareOptions {
  std::string first;
  std::string second;
  bool json = false;
};

std::string HostText(const Json& document) {
  const Json host = document.value("host", Json::object());
  return fmt::format("{}, {}", host.value("kernel", "?"), host.value("cpu", "?"));
}

int RunCompare(const CompareOptions& o) {
  std::string error;
  const std::optional<Json> first = LoadResults(o.first, &error);
  if (!first) return Fail(kTool, error);
  const std::optional<Json> second = LoadResults(o.second, &error);
  if (!second) return Fail(kTool, error);
  const std::vector<ComparedRow> rows = CompareResults(*first, *second);
  if (rows.empty())
    return Fail(kTool, fmt::format("{} and {} have no cell in common", o.first, o.second));
  if (o.json) {
    Json out = {{"tool", kTool}, {"first", o.first}, {"second", o.second}, {"rows", Json::array()}};
    for (const ComparedRow& row : rows) out["rows"].push_back(RowToJson(row));
    Put(stdout, out.dump(1) + "\n");
    return kExitDone;
  }
  Put(stdout,
      fmt::format("first   {}: {}\nsecond  {}: {}\n"
                  "verdict of the second against the first: Welch's t-test, 5 %, two-sided\n"
                  "{:<30} {:<20} {:>12} {:>12} {:<20}\n",
                  o.first, HostText(*first), o.second, HostText(*second), "cell", "figure", "first",
                  "second", "  difference, 95 %"));
  for (const ComparedRow& row : rows) Put(stdout, RowText(row));
  return kExitDone;
}

struct PlainOptions {
  std::string role;
  PlainUdpSettings settings;
  bool v6 = false;
  bool v4 = false;
  std::string seconds = "10";
  std::string omit = "0";
};

int RunPlain(PlainOptions* o) {
  const std::optional<Duration> seconds = ParseTime(o->seconds);
  const std::optional<Duration> omit = ParseTime(o->omit);
  if (!seconds || !omit) return FailUsage(kTool, "--seconds and --omit are times");
  o->settings.family = o->v6 ? IpFamily::kV6 : IpFamily::kV4;
  o->settings.duration = *seconds;
  o->settings.omit = *omit;
  return o->role == "send" ? SendPlainUdp(o->settings) : ReceivePlainUdp(o->settings);
}

}  // namespace

void AddCompare(CLI::App* app, Command* run) {
  const auto o = std::make_shared<CompareOptions>();
  CLI::App* const sub = app->add_subcommand("compare", "Two result files, with a verdict per row");
  sub->add_option("FIRST", o->first, "results.json")->required();
  sub->add_option("SECOND", o->second, "results.json")->required();
  sub->add_flag("--json", o->json, "One JSON document");
  sub->callback([o, run] { *run = [o] { return RunCompare(*o); }; });
}

void AddPlainUdp(CLI::App* app, Command* run) {
  const auto o = std::make_shared<PlainOptions>();
  CLI::App* const sub = app->add_subcommand("plain-udp", "One end of a control row");
  sub->group("");
  sub->add_option("ROLE", o->role, "send or receive")
      ->required()
      ->check(CLI::IsMember({"send", "receive"}));
  sub->add_flag("-4", o->v4, "IPv4");
  sub->add_flag("-6", o->v6, "IPv6");
  sub->add_option("--port", o->settings.port, "UDP port")->required();
  sub->add_option("--address", o->settings.address, "Address of the receiver");
  sub->add_option("--rate", o->settings.packets_per_second, "Packets a second");
  sub->add_option("--size", o->settings.payload_bytes, "Bytes")->check(CLI::Range(12, 65'000));
  sub->add_option("--seconds", o->seconds, "Seconds");
  sub->add_option("--omit", o->omit, "Seconds");
  sub->callback([o, run] { *run = [o] { return RunPlain(o.get()); }; });
}

}  // namespace dccp::apps::lab
