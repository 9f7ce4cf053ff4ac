#include "dccp/ccid2.h"

#include <array>

#include "ccid/ccid2/ccid2_receiver.h"
#include "ccid/ccid2/ccid2_sender.h"

namespace dccp {
namespace {

// The use of the Ack Vector is mandatory. RFC 4341 §4
constexpr std::array<CcidFeatureNeed, 1> kNeeds = {{
    {FeatureNumber::kSendAckVector, /*at_sender=*/false, /*mandatory=*/true, 1},
}};

constexpr CcidTraits kTraits = {.id = CcidId::k2,
                                .name = "TCP-like",
                                .max_payload_bytes = 0,
                                .uses_ccval = false,
                                .needs = kNeeds,
                                .options = {}};

}  // namespace

const CcidTraits& Ccid2Factory::traits() const { return kTraits; }

std::unique_ptr<CcidSender> Ccid2Factory::NewSender(const CcidInit& init) const {
  return std::make_unique<ccid2::Ccid2Sender>(init, options_);
}

std::unique_ptr<CcidReceiver> Ccid2Factory::NewReceiver(const CcidInit& init) const {
  return std::make_unique<ccid2::Ccid2Receiver>(init);
}

}  // namespace dccp
