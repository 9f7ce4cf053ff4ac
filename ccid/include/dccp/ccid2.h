// CCID 2, TCP-like congestion control. RFC 4341
#pragma once

#include <cstdint>
#include <memory>

#include "dccp/ccid.h"

namespace dccp {

struct Ccid2Options {
  bool pacing = false;  // spread a window over the round trip. RFC 4341 §5
  std::uint32_t max_cwnd_packets = 1u << 20;
  // The timeout is SRTT + max(min_rto, 4 RTTVAR), up to max_rto. A receiver may delay an ack by 200
  // ms, and its timer may be late: less would time out before an ack that is on its way.
  Duration min_rto = std::chrono::milliseconds(250);
  Duration max_rto = std::chrono::seconds(64);
  // Raise Ack Ratio ahead of ack loss so that about so many acks are left in a window (to ratio 64
  // at most); 0: by the rule of RFC 4341 §6.1.2 alone, which waits for lost acks.
  std::uint32_t acks_per_window = 16;
};

class DCCP_EXPORT Ccid2Factory final : public CcidFactory {
 public:
  explicit Ccid2Factory(const Ccid2Options& options = {}) : options_(options) {}
  const CcidTraits& traits() const override;
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override;
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override;

 private:
  Ccid2Options options_;
};

}  // namespace dccp
