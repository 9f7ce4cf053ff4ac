#include "apps/dccp-lab/forward_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace dccp::apps::lab {

namespace {

constexpr std::size_t kEthernet = 14 + 4;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kDataHeader = 16;  // RFC 4340 §5.1, X = 1
// What the receiving socket takes. RFC 6773 §3.3
constexpr std::size_t kLeastPlain = 12;

bool Wanted(const ForwardPlan& plan, const std::string& id) {
  return plan.only.empty() ||
         std::any_of(plan.only.begin(), plan.only.end(),
                     [&](const std::string& part) { return id.find(part) != std::string::npos; });
}

}  // namespace

const char* NameOf(Between between) {
  switch (between) {
    case Between::kKernelBridge:
    case Between::kNetemBridge:
      return "bridge";
    case Between::kKernelRouter:
    case Between::kNetemRouter:
      return "router";
  }
  return "?";
}

const char* NameOf(Firewall firewall) {
  switch (firewall) {
    case Firewall::kNone:
      return "none";
    case Firewall::kNft:
      return "nft";
    case Firewall::kIptables:
      return "iptables";
  }
  return "?";
}

const char* NameOf(Traffic traffic) {
  switch (traffic) {
    case Traffic::kPlain:
      return "plain";
    case Traffic::kUdp:
      return "udp";
    case Traffic::kNative:
      return "native";
  }
  return "?";
}

std::size_t HeaderBytes(IpFamily family, Traffic traffic) {
  std::size_t bytes = kEthernet + (family == IpFamily::kV4 ? 20 : 40);
  if (traffic != Traffic::kNative) bytes += kUdpHeader;
  if (traffic != Traffic::kPlain) bytes += kDataHeader;
  return bytes;
}

std::optional<std::size_t> PayloadOf(std::size_t frame_bytes, IpFamily family, Traffic traffic) {
  const std::size_t headers = HeaderBytes(family, traffic);
  const std::size_t least = traffic == Traffic::kPlain ? kLeastPlain : 1;
  if (frame_bytes < headers + least) return std::nullopt;
  return frame_bytes - headers;
}

std::vector<ForwardCell> CellsOf(const ForwardPlan& plan, std::vector<std::string>* impossible) {
  std::vector<ForwardCell> cells;
  for (const IpFamily family : plan.families) {
    const int version = static_cast<int>(family);
    for (const Traffic traffic : plan.traffic)
      for (const std::size_t size : plan.sizes)
        if (!PayloadOf(size, family, traffic))
          impossible->push_back(fmt::format("IPv{} {} in frames of {} bytes: its headers take {}",
                                            version, NameOf(traffic), size,
                                            HeaderBytes(family, traffic)));
    for (const Between between : plan.between)
      for (const Firewall firewall : plan.firewalls)
        for (const Traffic traffic : plan.traffic)
          for (const std::size_t size : plan.sizes) {
            const std::optional<std::size_t> payload = PayloadOf(size, family, traffic);
            if (!payload) continue;
            const std::string id = fmt::format("v{}-{}-{}-{}-{}", version, NameOf(between),
                                               NameOf(firewall), NameOf(traffic), size);
            if (Wanted(plan, id))
              cells.push_back({id, family, between, firewall, traffic, size, *payload});
          }
  }
  return cells;
}

Json PlanToJson(const ForwardPlan& plan) {
  return {{"command", "forward"},
          {"seconds", plan.seconds},
          {"omit_s", plan.omit},
          {"max_loss", plan.max_loss},
          {"rules", plan.rules}};
}

Json CellToJson(const ForwardPlan& plan, const ForwardCell& cell) {
  const bool plain = cell.traffic == Traffic::kPlain;
  return {{"id", cell.id},
          {"family", static_cast<int>(cell.family)},
          {"ccid", plain ? Json(nullptr) : Json(2)},
          {"frame_bytes", cell.frame_bytes},
          {"payload_bytes", cell.payload_bytes},
          {"encap", NameOf(cell.traffic)},
          {"seconds", plan.seconds},
          {"omit_s", plan.omit},
          {"seed", nullptr},
          {"rtt_ms", nullptr},
          {"loss", nullptr},
          {"topology", NameOf(cell.between)},
          {"firewall", NameOf(cell.firewall)},
          {"rules", cell.firewall == Firewall::kNone ? 0 : plan.rules}};
}

}  // namespace dccp::apps::lab
