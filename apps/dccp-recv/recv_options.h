// The options of dccp-recv.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/common_options.h"

namespace dccp::apps {

struct RecvOptions {
  CommonOptions common;
  bool one_off = false;
  std::string output_file;
  bool framed = false;
  std::string hashes_file;
  bool echo = false;
  std::uint32_t max_connections = 0;  // at a time; 0: no limit, with an output 1
  bool reverse_ok = false;
  std::string cookies_text = "auto";

  // As understood: ListenParams::cookies_above.
  std::optional<std::uint32_t> cookies_above;
};

void AddRecvOptions(CLI::App* app, RecvOptions* options);

// Empty when all is well, else what is wrong.
std::string UnderstandRecvOptions(RecvOptions* options);

}  // namespace dccp::apps
