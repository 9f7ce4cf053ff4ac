#include "apps/common/common_options.h"

#include <fmt/format.h>

#include <optional>

#include "apps/common/parse.h"
#include "apps/common/tool.h"
#include "dccp/uv_driver.h"

namespace dccp::apps {

void AddCommonOptions(CLI::App* app, CommonOptions* o) {
  const auto port_range = CLI::Range(1, 65535);
  app->add_flag("-4", o->only_v4, "IPv4 only");
  app->add_flag("-6", o->only_v6, "IPv6 only");
  app->add_option("--encap", o->encap_text, "udp (RFC 6773, the default) or native (protocol 33)");
  app->add_option("--tun", o->tun, "Native packets through this TUN device; needs --bind");
  app->add_option("--udp-port", o->udp_port, "UDP port of the DCCP-UDP service (6511)")
      ->check(port_range);
  app->add_option("-p,--port", o->port, "DCCP port (5001)")->check(port_range);
  app->add_option("--service", o->service_text, "Service code: PERF, SC:PERF, SC=N, SC=xHEX");
  app->add_option("--ccid", o->ccid_text,
                  "Congestion control, in order of preference: 2, 3, 4 (default 2,3,4)");
  app->add_flag("--pacing", o->pacing, "CCID 2: spread a window over the round trip");
  app->add_option("--timeout", o->timeout_text, "Give up on a silent peer after S seconds (30)");
  app->add_option("--ecn", o->ecn_text,
                  "Explicit Congestion Notification: on (default), off, or nonce (RFC 4340 12.2)");
  app->add_option("--path-mtu", o->path_mtu_text,
                  "Packet size: probe (default), icmp: no probing, fragment: leave it to IP");
  app->add_option("--trace", o->trace_file, "Write every packet to a pcap file");
  app->add_option("--events", o->events_file, "Write every event to a file of JSON lines");
  app->add_option("-i,--interval", o->interval_text, "Seconds between reports (1), 0: none");
  app->add_option("--bind", o->bind_text, "Local address");
  o->json = AddOptionalValue(app, "--json", &o->json_file, "One JSON document ([=FILE])");
  o->json_stream = AddOptionalValue(app, "--json-stream", &o->json_stream_file,
                                    "One JSON line an event ([=FILE])");
}

std::string UnderstandCommonOptions(const CcidRegistry& registry, CommonOptions* o) {
  if (o->only_v4 && o->only_v6) return "-4 and -6 exclude each other";
  if (o->encap_text != "udp" && o->encap_text != "native")
    return fmt::format("--encap: '{}' is neither udp nor native", o->encap_text);
  o->encap = o->encap_text == "udp" ? Encapsulation::kUdp : Encapsulation::kNative;

  const std::optional<ServiceCode> service = ServiceCode::Parse(o->service_text);
  if (!service) return fmt::format("--service: '{}' is no service code", o->service_text);
  o->service = *service;

  if (!o->ccid_text.empty()) {
    std::string error;
    o->ccids = ParseCcids(o->ccid_text, registry, &error);
    if (o->ccids.empty()) return "--ccid: " + error;
  }
  const std::optional<Duration> timeout = ParseTime(o->timeout_text);
  if (!timeout || *timeout <= Duration::zero())
    return fmt::format("--timeout: '{}' is no time above 0", o->timeout_text);
  o->timeout = *timeout;
  const std::optional<Duration> interval = ParseTime(o->interval_text);
  if (!interval || (*interval != Duration::zero() && *interval < std::chrono::milliseconds(10)))
    return fmt::format("--interval: '{}' is neither 0 nor at least 10ms", o->interval_text);
  o->interval = *interval;
  if (o->ecn_text != "on" && o->ecn_text != "off" && o->ecn_text != "nonce")
    return fmt::format("--ecn: '{}' is neither on, off nor nonce", o->ecn_text);
  if (o->path_mtu_text != "probe" && o->path_mtu_text != "icmp" && o->path_mtu_text != "fragment")
    return fmt::format("--path-mtu: '{}' is none of probe, icmp, fragment", o->path_mtu_text);

  if (!o->bind_text.empty()) {
    if (!ParseAddress(o->bind_text, &o->bind))
      return fmt::format("--bind: '{}' is no IP address", o->bind_text);
    const bool v4 = o->bind.family == IpFamily::kV4;
    if ((v4 && o->only_v6) || (!v4 && o->only_v4))
      return fmt::format("--bind: {} is not of the family asked for", o->bind_text);
    o->has_bind = true;
    o->only_v4 = v4;
    o->only_v6 = !v4;
  }
  if (!o->tun.empty() && o->encap != Encapsulation::kNative)
    return "--tun goes with --encap native only";
  if (!o->tun.empty() && !o->has_bind)
    return "--tun needs --bind ADDRESS, one that is routed to the device and not this host's own";
  if (o->json->count() != 0 && o->json_stream->count() != 0 && o->json_file == o->json_stream_file)
    return "--json and --json-stream need different files";
  return "";
}

ConnectionOptions ToConnectionOptions(const CommonOptions& o) {
  ConnectionOptions c;
  c.tx_ccids = o.ccids;
  c.rx_ccids = o.ccids;
  c.ecn = o.ecn_text != "off";
  c.ecn_nonce = o.ecn_text == "nonce";
  c.probe_path_mtu = o.path_mtu_text == "probe";
  c.allow_fragmentation = o.path_mtu_text == "fragment";
  c.user_timeout = o.timeout;
  c.request_timeout = o.timeout;
  return c;
}

}  // namespace dccp::apps
