// A CCID of one's own: a fixed rate, for networks that reserve it. README.md explains each part.
#pragma once

#include "dccp/ccid.h"

namespace dccp::experimental {

// A number for experiments, 248 to 254, that both ends have agreed upon. RFC 4340 §10
inline constexpr CcidId kFixedRateId{250};
// Options have numbers for experiments too: 184 to 190 towards the receiver, 248 to 254 back.
inline constexpr OptionType kPacketsReceived{248};

struct FixedRateOptions {
  double bytes_per_second = 125'000;  // of payload
  // Nothing heard for so long while data is under way: a packet a second until there is.
  Duration patience = std::chrono::seconds(2);
};

class FixedRateFactory final : public CcidFactory {
 public:
  explicit FixedRateFactory(const FixedRateOptions& options = {}) : options_(options) {}
  const CcidTraits& traits() const override;
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override;
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override;

 private:
  FixedRateOptions options_;
};

}  // namespace dccp::experimental
