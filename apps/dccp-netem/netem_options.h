// The options of dccp-netem.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "apps/common/parse.h"
#include "apps/dccp-netem/emulation.h"
#include "apps/dccp-netem/path_options.h"

namespace dccp::apps::netem {

enum class Mode : std::uint8_t { kUdp, kBridge, kRouter };

struct NetemOptions {
  // As typed.
  std::string listen_text;
  std::string to_text;
  std::string idle_text = "300";
  std::string memory_text = "256M";
  std::string grain_text = "50us";
  std::string seconds_text;
  std::string interval_text = "0";
  std::string json_file;
  std::string json_stream_file;
  std::string interfaces[2];
  PathOptionTexts path;
  CLI::App* udp = nullptr;
  CLI::App* bridge = nullptr;
  CLI::App* router = nullptr;
  CLI::Option* json = nullptr;
  CLI::Option* json_stream = nullptr;
  CLI::Option* seed_option = nullptr;
  bool realtime = false;

  // As understood.
  Mode mode = Mode::kUdp;
  HostPort listen;
  HostPort to;
  std::size_t max_clients = 1024;
  Duration idle = Duration::zero();
  Duration grain = Duration::zero();
  Duration seconds = Duration::zero();  // 0: until interrupted
  Duration interval = Duration::zero();
  EmulationConfig emulation;
};

void AddNetemOptions(CLI::App* app, NetemOptions* options);
// Empty when all is well, else what is wrong.
std::string UnderstandNetemOptions(NetemOptions* options);

}  // namespace dccp::apps::netem
