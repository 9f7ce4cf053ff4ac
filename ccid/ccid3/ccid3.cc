#include "dccp/ccid3.h"

#include "ccid/ccid3/ccid3_receiver.h"
#include "ccid/ccid3/ccid3_sender.h"
#include "ccid/ccid3/options.h"

namespace dccp {
namespace {

constexpr std::array<OptionType, 4> kOptions = {ccid3::kSenderRttEstimate, ccid3::kLossEventRate,
                                                ccid3::kLossIntervals, ccid3::kReceiveRate};

}  // namespace

// None is mandatory: with a peer that lacks one of them CCID 3 is less exact, but works. Loss Event
// Rate is for receivers that send no Loss Intervals. RFC 4342 §4
Ccid3Factory::Ccid3Factory(const Ccid3Options& options) : options_(options) {
  std::size_t n = 0;
  needs_[n++] = {FeatureNumber::kSendLossEventRate, false, false, 1};
  needs_[n++] = {FeatureNumber::kSendNdpCount, true, false, 1};
  if (options.send_rtt_estimate) needs_[n++] = {FeatureNumber::kSendRttEstimate, true, false, 1};
  if (options.ack_vector) needs_[n++] = {FeatureNumber::kSendAckVector, false, false, 1};
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
