#include "dccp/ccid3.h"

#include "ccid/ccid3/ccid3_receiver.h"
#include "ccid/ccid3/ccid3_sender.h"
#include "ccid/ccid3/needs.h"
#include "ccid/ccid3/options.h"

namespace dccp {
namespace {

constexpr std::array<OptionType, 4> kOptions = {ccid3::kSenderRttEstimate, ccid3::kLossEventRate,
                                                ccid3::kLossIntervals, ccid3::kReceiveRate};

}  // namespace

Ccid3Factory::Ccid3Factory(const Ccid3Options& options) : options_(options) {
  const std::size_t n = ccid3::FillNeeds(options.send_rtt_estimate, options.ack_vector, needs_);
  traits_.id = CcidId::k3;
  traits_.name = "TFRC";
  traits_.uses_ccval = true;
  traits_.always_elapsed_time = true;
  traits_.needs = std::span(needs_).first(n);
  traits_.options = kOptions;
}

std::unique_ptr<CcidSender> Ccid3Factory::NewSender(const CcidInit& init) const {
  return std::make_unique<ccid3::Ccid3Sender>(init, options_);
}

std::unique_ptr<CcidReceiver> Ccid3Factory::NewReceiver(const CcidInit& init) const {
  return std::make_unique<ccid3::Ccid3Receiver>(init, options_);
}

}  // namespace dccp
