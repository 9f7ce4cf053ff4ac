// A CCID for tests: which number it has and how many objects it made is the test's to say.
#pragma once

#include <memory>

#include "dccp/ccid2.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {

// An experimental number. RFC 4340 §10
inline constexpr CcidId kOtherCcid = CcidId{250};

// CCID 2 under a number of choice, which counts the objects that it makes.
class CountingCcid final : public CcidFactory {
 public:
  explicit CountingCcid(CcidId id) : traits_(ccid2_.traits()) { traits_.id = id; }
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override {
    ++senders;
    return ccid2_.NewSender(init);
  }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override {
    ++receivers;
    return ccid2_.NewReceiver(init);
  }

  mutable int senders = 0;
  mutable int receivers = 0;

 private:
  Ccid2Factory ccid2_;
  CcidTraits traits_;
};

inline WirePeerConfig WithRegistry(const CcidRegistry& registry) {
  WirePeerConfig config;
  config.adjust = [&registry](EndpointConfig& endpoint) { endpoint.registry = &registry; };
  return config;
}

}  // namespace dccp::peer
