// The options of dccp-send.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/common_options.h"
#include "apps/common/parse.h"
#include "dccp/time.h"

namespace dccp::apps {

struct SendOptions {
  CommonOptions common;
  // As typed.
  std::string target_text;
  std::string size_text;
  std::string seconds_text;
  std::string rate_text;
  std::string omit_text = "0";
  std::string expect_rtt_text;
  std::string expect_loss_text;
  std::uint64_t packets = 0;
  std::string input_file;
  std::string hashes_file;
  bool framed = false;
  bool reverse = false;
  unsigned parallel = 1;

  // As understood.
  HostPort target;
  std::uint32_t size_bytes = 0;  // 0: the largest that fits
  Duration seconds = Duration::zero();
  Duration omit = Duration::zero();
  double bits_per_second = 0;
  std::optional<Duration> expect_rtt;
  std::optional<double> expect_loss;
};

void AddSendOptions(CLI::App* app, SendOptions* options);

// Empty when all is well, else what is wrong.
std::string UnderstandSendOptions(SendOptions* options);

}  // namespace dccp::apps
