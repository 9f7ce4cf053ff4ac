// Emulates a path as a bridge: nothing of what passes is changed.
#pragma once

#include <memory>
#include <string>

#include "apps/dccp-netem/link_emulation.h"

namespace dccp::apps::netem {

// Every frame that comes in on one interface leaves on the other, whatever protocol it carries,
// with its link addresses: the hosts on both sides see one network. ARP and neighbour discovery
// meet the path like all else. The interfaces should have no addresses of their own, or this host
// hears and answers what is meant for it. A frame that is too large for the path disappears, as in
// any bridge.
class Bridge final : public LinkEmulation {
 public:
  // Null with `*error` filled. `loop` must outlive it.
  static std::unique_ptr<Bridge> Open(const LinkNames& names, const EmulationConfig& config,
                                      EventLoop& loop, std::string* error);

  std::string Describe() const override;
  ExtraFigures Extras() override { return {}; }

 private:
  explicit Bridge(const EmulationConfig& config) : LinkEmulation(config) {}

  bool Admit(std::size_t, const ReceivedFrame&, Packet*, const FrameInfo&) override { return true; }
  void Address(std::size_t, Packet*) override {}
  void TooBig(std::size_t, const Packet&, std::uint32_t) override {}
};

}  // namespace dccp::apps::netem
