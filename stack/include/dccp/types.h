// The protocol's code points and small strong types. RFC 4340 §5, §6.4, §8, §19; RFC 5596; RFC 6773
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dccp/export.h"

namespace dccp {

// IP protocol number of DCCP. RFC 4340 §19.1
inline constexpr std::uint8_t kProtocolNumber = 33;
// UDP port of a host's DCCP-UDP service. RFC 6773 §3.8
inline constexpr std::uint16_t kDefaultUdpPort = 6511;

// RFC 4340 §5.1; kListen is RFC 5596.
enum class PacketType : std::uint8_t {
  kRequest = 0,
  kResponse = 1,
  kData = 2,
  kAck = 3,
  kDataAck = 4,
  kCloseReq = 5,
  kClose = 6,
  kReset = 7,
  kSync = 8,
  kSyncAck = 9,
  kListen = 10,
};

// RFC 4340 §5.6; kEncapsulatedPortReuse is RFC 6773 §3.8. Values not named here are legal on the
// wire and mean kUnspecified to a receiver.
enum class ResetCode : std::uint8_t {
  kUnspecified = 0,
  kClosed = 1,
  kAborted = 2,
  kNoConnection = 3,
  kPacketError = 4,
  kOptionError = 5,
  kMandatoryError = 6,
  kConnectionRefused = 7,
  kBadServiceCode = 8,
  kTooBusy = 9,
  kBadInitCookie = 10,
  kAggressionPenalty = 11,
  kEncapsulatedPortReuse = 12,
};

// A Reset Code with its three data bytes. RFC 4340 §5.6
struct ResetReason {
  ResetCode code = ResetCode::kUnspecified;
  std::array<std::uint8_t, 3> data = {0, 0, 0};
  friend bool operator==(const ResetReason&, const ResetReason&) = default;
};

// RFC 4340 §5.8. 128-191: sent by an HC-Sender to its HC-Receiver; 192-255: the reverse.
enum class OptionType : std::uint8_t {
  kPadding = 0,
  kMandatory = 1,
  kSlowReceiver = 2,
  kChangeL = 32,
  kConfirmL = 33,
  kChangeR = 34,
  kConfirmR = 35,
  kInitCookie = 36,
  kNdpCount = 37,
  kAckVectorNonce0 = 38,
  kAckVectorNonce1 = 39,
  kDataDropped = 40,
  kTimestamp = 41,
  kTimestampEcho = 42,
  kElapsedTime = 43,
  kDataChecksum = 44,
  kSenderFirstCcid = 128,
  kReceiverFirstCcid = 192,
};

// RFC 4340 §6.4. 128-191: located at the HC-Sender; 192-255: at the HC-Receiver.
enum class FeatureNumber : std::uint8_t {
  kCcid = 1,
  kAllowShortSeqnos = 2,
  kSequenceWindow = 3,
  kEcnIncapable = 4,
  kAckRatio = 5,
  kSendAckVector = 6,
  kSendNdpCount = 7,
  kMinChecksumCoverage = 8,
  kCheckDataChecksum = 9,
  kSendRttEstimate = 128,    // CCID 3 and 4. RFC 6323 §3.2.2
  kSendLossEventRate = 192,  // CCID 3 and 4. RFC 4342 §8.4
};

// Congestion Control Identifiers. RFC 4340 §10; 248-254 are experimental.
enum class CcidId : std::uint8_t { k2 = 2, k3 = 3, k4 = 4 };

// The ECN field of the IP header. RFC 3168 §5
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

// The client sent the Request; the server answered it. RFC 4340 §2
enum class Role : std::uint8_t { kClient, kServer };

enum class IpFamily : std::uint8_t { kV4 = 4, kV6 = 6 };

enum class Encapsulation : std::uint8_t {
  kUdp,     // RFC 6773
  kNative,  // IP protocol 33
};

// RFC 4340 §8.4, in the order that §8.5 compares them.
enum class State : std::uint8_t {
  kClosed,
  kListen,
  kRequest,
  kRespond,
  kPartOpen,
  kOpen,
  kCloseReq,
  kClosing,
  kTimeWait,
};

// Names as the RFC writes them; "?" for an unassigned value. Never null.
DCCP_EXPORT const char* ToString(PacketType type);
DCCP_EXPORT const char* ToString(ResetCode code);
DCCP_EXPORT const char* ToString(OptionType type);
DCCP_EXPORT const char* ToString(FeatureNumber feature);
DCCP_EXPORT const char* ToString(State state);
DCCP_EXPORT const char* ToString(Ecn ecn);

// DCCP-Data, DataAck, Request and Response may carry application data. RFC 4340 §7.7
constexpr bool IsDataPacket(PacketType t) {
  return t == PacketType::kRequest || t == PacketType::kResponse || t == PacketType::kData ||
         t == PacketType::kDataAck;
}
// Every type but Request, Data (and Listen) carries an Acknowledgement Number. RFC 4340 §5.1
constexpr bool HasAckNumber(PacketType t) {
  return t != PacketType::kRequest && t != PacketType::kData && t != PacketType::kListen;
}
// Data, Ack and DataAck may use 24-bit sequence numbers. RFC 4340 §5.1
constexpr bool MayUseShortSeqno(PacketType t) {
  return t == PacketType::kData || t == PacketType::kAck || t == PacketType::kDataAck;
}

// An IP address with its scope. IPv4 uses the first four bytes, in network order.
struct IpAddress {
  IpFamily family = IpFamily::kV4;
  std::array<std::uint8_t, 16> bytes = {};
  std::uint32_t scope_id = 0;  // IPv6 link-local only: interface index, else 0

  constexpr std::size_t size() const { return family == IpFamily::kV4 ? 4 : 16; }
  bool IsUnspecified() const {
    for (std::uint8_t b : bytes)
      if (b != 0) return false;
    return true;
  }
  bool IsMulticastOrBroadcast() const {
    if (family == IpFamily::kV6) return bytes[0] == 0xFF;
    return (bytes[0] & 0xF0) == 0xE0 ||
           (bytes[0] == 0xFF && bytes[1] == 0xFF && bytes[2] == 0xFF && bytes[3] == 0xFF);
  }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// What lies below the DCCP header on one path: addresses, and UDP ports in DCCP-UDP (0 in native).
struct Path {
  IpAddress local;
  IpAddress remote;
  std::uint16_t local_udp_port = 0;
  std::uint16_t remote_udp_port = 0;
  friend bool operator==(const Path&, const Path&) = default;
};

// The full tuple that names a connection: 4 parts native, 6 parts in UDP. RFC 6773 §3.8
struct FlowTuple {
  Path path;
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  friend bool operator==(const FlowTuple&, const FlowTuple&) = default;
};

// A handle of a connection. A stale one is reported as Error::kNoSuchConnection, never followed.
struct ConnId {
  std::uint32_t index = 0xFFFFFFFFu;
  std::uint32_t generation = 0;
  friend bool operator==(const ConnId&, const ConnId&) = default;
};

// A handle of a listener.
struct ListenerId {
  std::uint32_t index = 0xFFFFFFFFu;
  std::uint32_t generation = 0;
  friend bool operator==(const ListenerId&, const ListenerId&) = default;
};

}  // namespace dccp
