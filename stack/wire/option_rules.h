// On which packet types an option means anything. RFC 4340 §5.8, §11; RFC 5596 §2.2.1
#pragma once

#include "dccp/types.h"

namespace dccp {

constexpr bool IsFeatureOption(OptionType t) {
  return t >= OptionType::kChangeL && t <= OptionType::kConfirmR;
}
// Sent by an HC-Sender to its HC-Receiver: 128-191. RFC 4340 §10.3
constexpr bool IsSenderCcidOption(OptionType t) {
  return t >= OptionType::kSenderFirstCcid && t < OptionType::kReceiverFirstCcid;
}
// Sent by an HC-Receiver to its HC-Sender: 192-255. RFC 4340 §10.3
constexpr bool IsReceiverCcidOption(OptionType t) { return t >= OptionType::kReceiverFirstCcid; }

// False where a received option must be ignored because of the packet's type alone: Table 3's
// "DCCP-Data?" column, options that need an Acknowledgement Number, and Init Cookie on Request.
// CCID-specific options are the CCID's to judge; unknown types are ignored anyway: both true.
constexpr bool OptionPermitted(OptionType option, PacketType packet) {
  if (packet == PacketType::kListen) return false;
  switch (option) {
    case OptionType::kMandatory:
    case OptionType::kChangeL:
    case OptionType::kChangeR:
      return packet != PacketType::kData;
    case OptionType::kConfirmL:
    case OptionType::kConfirmR:
    case OptionType::kInitCookie:
    case OptionType::kAckVectorNonce0:
    case OptionType::kAckVectorNonce1:
    case OptionType::kDataDropped:
    case OptionType::kElapsedTime:
      return HasAckNumber(packet);
    default:
      return true;
  }
}

}  // namespace dccp
