// The decisions of RFC 4340 §8.5 that need no state beyond their arguments, named by step.
#pragma once

#include "dccp/seqno.h"
#include "dccp/types.h"

namespace dccp {

// Step 4: what a client in REQUEST does with a packet.
enum class RequestVerdict : std::uint8_t {
  kAccept,  // a Response or Reset that answers one of our Requests
  kReset,   // answer with Reset(Packet Error), stay in REQUEST
  kDrop,    // a Reset that answers nothing of ours: Resets are never answered
};
// Deviation: the pseudocode of step 4 answers a Reset with a bad Acknowledgement Number with a
// Reset, against §8.5 step 2's rule never to answer a Reset with one; two ends could then reset
// each other for ever. Such a Reset is dropped.
constexpr RequestVerdict CheckInRequest(PacketType type, bool ack_in_window) {
  if (type == PacketType::kReset)
    return ack_in_window ? RequestVerdict::kAccept : RequestVerdict::kDrop;
  if (type == PacketType::kResponse && ack_in_window) return RequestVerdict::kAccept;
  return RequestVerdict::kReset;
}

// Step 7: true when a sequence-valid packet has a type that nobody sends in this state: answer it
// with a Sync and drop it.
constexpr bool IsUnexpectedType(Role role, State state, PacketType type, Seq64 seq, Seq64 osr) {
  if (role == Role::kServer && (type == PacketType::kCloseReq || type == PacketType::kResponse))
    return true;
  if (role == Role::kClient && type == PacketType::kRequest) return true;
  if (state >= State::kOpen && (type == PacketType::kRequest || type == PacketType::kResponse) &&
      seq >= osr)
    return true;
  return state == State::kRespond && type == PacketType::kData;
}

// Steps 11 and 12: true when this packet moves RESPOND or PARTOPEN to OPEN.
constexpr bool OpensConnection(State state, PacketType type) {
  if (state == State::kRespond) return type != PacketType::kRequest;
  if (state == State::kPartOpen)
    return type != PacketType::kResponse && type != PacketType::kSync && type != PacketType::kReset;
  return false;
}

}  // namespace dccp
