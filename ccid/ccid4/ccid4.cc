#include "dccp/ccid4.h"

#include "ccid/ccid3/ccid3_receiver.h"
#include "ccid/ccid3/ccid3_sender.h"
#include "ccid/ccid3/needs.h"
#include "ccid/ccid3/options.h"
#include "ccid/tfrc/profile.h"

namespace dccp {
namespace {

constexpr std::array<OptionType, 5> kOptions = {ccid3::kSenderRttEstimate, ccid3::kLossEventRate,
                                                ccid3::kLossIntervals, ccid3::kReceiveRate,
                                                ccid3::kDroppedPackets};

// An IPv4 header and that of a Data packet with 48-bit sequence numbers, whatever is really sent:
// the RFC aims at rough fairness and a rough incentive. RFC 5622 §5
constexpr double kHeaderBytes = 20 + 16;
constexpr double kNominalBytes = 1460;  // RFC 4828 §3

constexpr tfrc::Profile kProfile = {.nominal_bytes = kNominalBytes,
                                    .header_bytes = kHeaderBytes,
                                    .min_interval = Ccid4Factory::kMinInterval,
                                    .short_intervals = true};

Ccid3Options AsCcid3(const Ccid4Options& options) {
  Ccid3Options shared;
  shared.send_rtt_estimate = options.send_rtt_estimate;
  shared.ack_vector = options.ack_vector;
  shared.history_discounting = options.history_discounting;
  shared.oscillation_damping = options.oscillation_damping;
  shared.min_nofeedback = options.min_nofeedback;
  shared.max_rate_bytes_per_second = options.max_rate_bytes_per_second;
  // Unused time may be made up for to the limit of RFC 5348 §4.6, a round trip: the minimum
  // interval lets no burst come of it, and a flow of less than its rate is not held up when the
  // rate falls below it for a moment.
  shared.max_credit = std::chrono::hours(1);
  return shared;
}

}  // namespace

Ccid4Factory::Ccid4Factory(const Ccid4Options& options) : options_(options) {
  const std::size_t n = ccid3::FillNeeds(options.send_rtt_estimate, options.ack_vector, needs_);
  traits_.id = CcidId::k4;
  traits_.name = "TFRC-SP";
  traits_.uses_ccval = true;
  traits_.always_elapsed_time = true;
  traits_.needs = std::span(needs_).first(n);
  traits_.options = kOptions;
}

std::unique_ptr<CcidSender> Ccid4Factory::NewSender(const CcidInit& init) const {
  return std::make_unique<ccid3::Ccid3Sender>(init, AsCcid3(options_), kProfile);
}

std::unique_ptr<CcidReceiver> Ccid4Factory::NewReceiver(const CcidInit& init) const {
  return std::make_unique<ccid3::Ccid3Receiver>(init, AsCcid3(options_), kProfile);
}

}  // namespace dccp
