// The features that CCID 3 and CCID 4 ask for. RFC 4342 §4, RFC 6323 §3.2.2
#pragma once

#include <array>
#include <cstddef>

#include "dccp/ccid.h"

namespace dccp::ccid3 {

// None is mandatory: with a peer that lacks one of them they are less exact, but work. Loss Event
// Rate is for receivers that send no Loss Intervals. Returns how many there are.
inline std::size_t FillNeeds(bool send_rtt_estimate, bool ack_vector,
                             std::array<CcidFeatureNeed, 4>& needs) {
  std::size_t n = 0;
  needs[n++] = {FeatureNumber::kSendLossEventRate, false, false, 1};
  needs[n++] = {FeatureNumber::kSendNdpCount, true, false, 1};
  if (send_rtt_estimate) needs[n++] = {FeatureNumber::kSendRttEstimate, true, false, 1};
  if (ack_vector) needs[n++] = {FeatureNumber::kSendAckVector, false, false, 1};
  return n;
}

}  // namespace dccp::ccid3
