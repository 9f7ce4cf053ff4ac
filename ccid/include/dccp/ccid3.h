// CCID 3, TCP-friendly rate control. RFC 4342, RFC 5348, RFC 6323
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "dccp/ccid.h"

namespace dccp {

struct Ccid3Options {
  // The sender tells the receiver its round-trip time in every data packet (4 or 5 bytes), which
  // makes the receiver's loss events and feedback exact; both ends ask for it. A peer without it
  // estimates from the window counter. RFC 6323
  bool send_rtt_estimate = true;
  // Ack Vectors beside the Loss Intervals: for users who want to know the fate of each packet.
  // RFC 4342 §8.5.1
  bool ack_vector = false;
  // Lets a long time without loss reduce the weight of what was before. RFC 5348 §5.5
  bool history_discounting = false;
  // Lowers the rate while the round-trip time rises. RFC 5348 §4.5
  bool oscillation_damping = true;

  // Packets are released in groups worth this much time at most, one wake-up each: t_gran.
  // RFC 5348 §8.3
  Duration granularity = std::chrono::milliseconds(1);
  // How much unused time may be made up for by a burst; never more than a round trip. §4.6
  Duration max_credit = std::chrono::milliseconds(10);
  // Lower bound of the nofeedback timer. Deviation: RFC 5348 §4.3 has none, but on a local network
  // four round trips are less than a scheduler's delay, and the rate would collapse.
  Duration min_nofeedback = std::chrono::milliseconds(100);
  // Upper bound of the sending rate in bytes a second; 0: none.
  std::uint64_t max_rate_bytes_per_second = 0;
};

// Traits depend on the options: a factory may not be copied, and outlives what it made.
class DCCP_EXPORT Ccid3Factory final : public CcidFactory {
 public:
  explicit Ccid3Factory(const Ccid3Options& options = {});
  Ccid3Factory(const Ccid3Factory&) = delete;
  Ccid3Factory& operator=(const Ccid3Factory&) = delete;
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override;
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override;

 private:
  Ccid3Options options_;
  std::array<CcidFeatureNeed, 4> needs_ = {};
  CcidTraits traits_ = {};
};

}  // namespace dccp
