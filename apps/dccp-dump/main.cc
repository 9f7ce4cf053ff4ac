// dccp-dump: decodes DCCP from capture files, native and in UDP.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/capture_file.h"
#include "apps/common/tool.h"
#include "apps/dccp-dump/packet.h"
#include "apps/dccp-dump/render.h"
#include "apps/dccp-dump/tracker.h"

namespace dccp::apps {
namespace {

struct DumpOptions {
  std::string file;
  std::vector<std::string> fields;
  std::vector<std::uint16_t> udp_ports = {kDefaultUdpPort};
  bool json = false;
  std::string json_file;
  bool check = false;
  bool stats = false;
};

// Writes packets in the chosen form as they come, and the rest at the end.
class Printer {
 public:
  Printer(const DumpOptions& options, std::FILE* out) : options_(options), out_(out) {
    if (options_.json)
      Put(out_,
          fmt::format("{{\"tool\":\"dccp-dump\",\"version\":\"{}\",\"packets\":[", UDCCP_VERSION));
  }

  void Packet(const DumpPacket& packet) {
    if (packets_++ == 0) origin_ns_ = packet.time_ns;
    violations_ += packet.violations.size();
    if (options_.json) {
      Put(out_, fmt::format("{}\n{}", packets_ == 1 ? "" : ",", PacketToJson(packet).dump()));
    } else if (!options_.fields.empty()) {
      Put(out_, fmt::format("{}\n", PacketToFields(PacketToJson(packet), options_.fields)));
    } else if (options_.check ? !packet.violations.empty() : !options_.stats) {
      Put(out_, fmt::format("{}\n", PacketToText(packet, origin_ns_)));
    }
  }

  void End(const Tracker& tracker, const std::string& error) {
    if (options_.json) {
      nlohmann::ordered_json tail = {{"violations", violations_}};
      tail["error"] = error.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(error);
      Put(out_, fmt::format("\n],{}\n", tail.dump().substr(1)));
      return;
    }
    if (options_.stats)
      for (const Connection& connection : tracker.connections())
        Put(out_, fmt::format("{}\n", StatsLine(connection)));
    if (options_.check)
      Put(stderr, fmt::format("dccp-dump: {} packets, {} violations\n", packets_, violations_));
  }

  std::uint64_t violations() const { return violations_; }

 private:
  const DumpOptions& options_;
  std::FILE* out_;
  std::uint64_t packets_ = 0;
  std::uint64_t violations_ = 0;
  std::int64_t origin_ns_ = 0;
};

void Parse(CLI::App* app, DumpOptions* options, CLI::Option** json) {
  app->add_option("FILE", options->file, "pcap or pcapng file, - for standard input")->required();
  app->add_option("--fields", options->fields, "Print these fields of each packet, tab-separated")
      ->delimiter(',')
      ->check([](const std::string& name) {
        return IsField(name) ? std::string() : "no such field: " + name;
      });
  *json = AddOptionalValue(app, "--json", &options->json_file,
                           "One JSON document, to FILE with --json=FILE");
  app->add_flag("--check", options->check, "Print only packets that break the protocol");
  app->add_flag("--stats", options->stats, "One line a connection");
  app->add_option("--udp-port", options->udp_ports, "UDP ports of DCCP-UDP (default 6511)")
      ->delimiter(',');
}

int Run(const DumpOptions& options) {
  std::string error;
  const std::unique_ptr<CaptureFile> capture = CaptureFile::Open(options.file, &error);
  if (capture == nullptr) return Fail("dccp-dump", error);
  std::FILE* out = stdout;
  if (options.json && options.json_file != "-") out = std::fopen(options.json_file.c_str(), "w");
  if (out == nullptr)
    return Fail("dccp-dump", fmt::format("cannot write {}: {}", options.json_file, ErrnoText()));

  Tracker tracker;
  PacketDecoder decoder(options.udp_ports);
  Printer printer(options, out);
  CapturedFrame frame;
  DumpPacket packet;
  bool unknown_link = false;
  CaptureFile::Status status = CaptureFile::Status::kEnd;
  while ((status = capture->Next(&frame)) == CaptureFile::Status::kFrame) {
    if (!IsKnownLinkType(frame.link_type)) {
      unknown_link = true;
      error = fmt::format("{}: link type {} is not supported", options.file, frame.link_type);
      continue;
    }
    if (!decoder.Decode(frame, &packet)) continue;
    tracker.Update(&packet);
    if (options.check || options.json) CheckPacket(&packet);
    printer.Packet(packet);
  }
  if (status == CaptureFile::Status::kBroken)
    error = fmt::format("{}: {}", options.file, capture->error());
  printer.End(tracker, error);
  const bool wrote = Flush(out);
  if (out != stdout) std::fclose(out);
  if (!wrote) return Fail("dccp-dump", fmt::format("cannot write the output: {}", WriteErrorText()));
  if (status == CaptureFile::Status::kBroken || unknown_link) return Fail("dccp-dump", error);
  return options.check && printer.violations() != 0 ? kExitFailed : kExitDone;
}

}  // namespace
}  // namespace dccp::apps

int main(int argc, char** argv) {
  using namespace dccp::apps;
  return Guarded("dccp-dump", [&]() -> int {
    CLI::App app("Decodes DCCP packets from a pcap or pcapng file.", "dccp-dump");
    DumpOptions options;
    CLI::Option* json = nullptr;
    Parse(&app, &options, &json);
    if (const int code = ParseArguments(&app, UDCCP_VERSION, argc, argv); code >= 0) return code;
    options.json = json->count() != 0;
    return Run(options);
  });
}
