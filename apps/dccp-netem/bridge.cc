#include "apps/dccp-netem/bridge.h"

#include <fmt/format.h>

namespace dccp::apps::netem {

std::unique_ptr<Bridge> Bridge::Open(const LinkNames& names, const EmulationConfig& config,
                                     EventLoop& loop, std::string* error) {
  std::unique_ptr<Bridge> bridge(new Bridge(config));
  if (!bridge->OpenLinks(names, LinkSocket::Promiscuous::kYes, loop, error)) return nullptr;
  return bridge;
}

std::string Bridge::Describe() const {
  return fmt::format("Bridging {} -> {}", link(0).name(), link(1).name());
}

}  // namespace dccp::apps::netem
