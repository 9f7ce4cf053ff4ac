// CCID 4, TCP-friendly rate control for small packets. RFC 5622, RFC 4828
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "dccp/ccid.h"

namespace dccp {

// For a flow of small packets, voice above all: it may send as many bytes a second, headers counted
// in, as a TCP with packets of 1460 bytes would, but no more than a packet in 10 ms. Experimental,
// as its RFCs are: a peer has to have it too, and in networks that lose small packets less often
// than large ones it takes more than its share. RFC 4828 §10
struct Ccid4Options {
  // As in Ccid3Options.
  bool send_rtt_estimate = true;
  bool ack_vector = false;
  bool history_discounting = false;
  bool oscillation_damping = true;
  Duration min_nofeedback = std::chrono::milliseconds(100);
  // Upper bound of the sending rate in bytes of payload a second; 0: none.
  std::uint64_t max_rate_bytes_per_second = 0;
};

// Traits depend on the options: a factory may not be copied, and outlives what it made.
class DCCP_EXPORT Ccid4Factory final : public CcidFactory {
 public:
  // Between two data packets, whatever the rate allows. RFC 5622 §5
  static constexpr Duration kMinInterval = std::chrono::milliseconds(10);

  explicit Ccid4Factory(const Ccid4Options& options = {});
  Ccid4Factory(const Ccid4Factory&) = delete;
  Ccid4Factory& operator=(const Ccid4Factory&) = delete;
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override;
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override;

 private:
  Ccid4Options options_;
  std::array<CcidFeatureNeed, 4> needs_ = {};
  CcidTraits traits_ = {};
};

}  // namespace dccp
