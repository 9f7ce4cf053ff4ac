// The options that dccp-send and dccp-recv share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "dccp/ccid.h"
#include "dccp/endpoint.h"
#include "dccp/service_code.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps {

// Port and service code of performance tools, as registered for DCCP. RFC 5595 §5
inline constexpr std::uint16_t kDefaultPort = 5001;
inline constexpr const char* kDefaultService = "PERF";

struct CommonOptions {
  // As typed.
  bool only_v4 = false;
  bool only_v6 = false;
  std::string encap_text = "udp";
  std::string tun;
  std::string service_text = kDefaultService;
  std::string ccid_text;
  bool pacing = false;
  std::string timeout_text = "30";
  std::string interval_text = "1";
  std::string ecn_text = "on";
  std::string path_mtu_text = "probe";
  std::string bind_text;
  std::string trace_file;
  std::string events_file;
  std::string json_file;
  std::string json_stream_file;
  CLI::Option* json = nullptr;
  CLI::Option* json_stream = nullptr;
  std::uint16_t udp_port = kDefaultUdpPort;
  std::uint16_t port = kDefaultPort;

  // As understood.
  Encapsulation encap = Encapsulation::kUdp;
  ServiceCode service;
  std::vector<CcidId> ccids;
  Duration timeout = std::chrono::seconds(30);
  Duration interval = std::chrono::seconds(1);
  IpAddress bind;
  bool has_bind = false;
};

void AddCommonOptions(CLI::App* app, CommonOptions* options);

// Turns the texts into values. Empty when all is well, else what is wrong with which option.
std::string UnderstandCommonOptions(const CcidRegistry& registry, CommonOptions* options);

// The wishes for a connection that follow from the options.
ConnectionOptions ToConnectionOptions(const CommonOptions& options);

}  // namespace dccp::apps
