#include "dccp/types.h"

namespace dccp {

const char* ToString(PacketType type) {
  switch (type) {
    case PacketType::kRequest:
      return "Request";
    case PacketType::kResponse:
      return "Response";
    case PacketType::kData:
      return "Data";
    case PacketType::kAck:
      return "Ack";
    case PacketType::kDataAck:
      return "DataAck";
    case PacketType::kCloseReq:
      return "CloseReq";
    case PacketType::kClose:
      return "Close";
    case PacketType::kReset:
      return "Reset";
    case PacketType::kSync:
      return "Sync";
    case PacketType::kSyncAck:
      return "SyncAck";
    case PacketType::kListen:
      return "Listen";
  }
  return "?";
}

const char* ToString(ResetCode code) {
  switch (code) {
    case ResetCode::kUnspecified:
      return "Unspecified";
    case ResetCode::kClosed:
      return "Closed";
    case ResetCode::kAborted:
      return "Aborted";
    case ResetCode::kNoConnection:
      return "No Connection";
    case ResetCode::kPacketError:
      return "Packet Error";
    case ResetCode::kOptionError:
      return "Option Error";
    case ResetCode::kMandatoryError:
      return "Mandatory Error";
    case ResetCode::kConnectionRefused:
      return "Connection Refused";
    case ResetCode::kBadServiceCode:
      return "Bad Service Code";
    case ResetCode::kTooBusy:
      return "Too Busy";
    case ResetCode::kBadInitCookie:
      return "Bad Init Cookie";
    case ResetCode::kAggressionPenalty:
      return "Aggression Penalty";
    case ResetCode::kEncapsulatedPortReuse:
      return "Encapsulated Port Reuse";
  }
  return "?";
}

const char* ToString(OptionType type) {
  switch (type) {
    case OptionType::kPadding:
      return "Padding";
    case OptionType::kMandatory:
      return "Mandatory";
    case OptionType::kSlowReceiver:
      return "Slow Receiver";
    case OptionType::kChangeL:
      return "Change L";
    case OptionType::kConfirmL:
      return "Confirm L";
    case OptionType::kChangeR:
      return "Change R";
    case OptionType::kConfirmR:
      return "Confirm R";
    case OptionType::kInitCookie:
      return "Init Cookie";
    case OptionType::kNdpCount:
      return "NDP Count";
    case OptionType::kAckVectorNonce0:
      return "Ack Vector [Nonce 0]";
    case OptionType::kAckVectorNonce1:
      return "Ack Vector [Nonce 1]";
    case OptionType::kDataDropped:
      return "Data Dropped";
    case OptionType::kTimestamp:
      return "Timestamp";
    case OptionType::kTimestampEcho:
      return "Timestamp Echo";
    case OptionType::kElapsedTime:
      return "Elapsed Time";
    case OptionType::kDataChecksum:
      return "Data Checksum";
    case OptionType::kSenderFirstCcid:
    case OptionType::kReceiverFirstCcid:
      break;
  }
  return static_cast<unsigned>(type) >= static_cast<unsigned>(OptionType::kSenderFirstCcid)
             ? "CCID-specific"
             : "?";
}

const char* ToString(FeatureNumber feature) {
  switch (feature) {
    case FeatureNumber::kCcid:
      return "CCID";
    case FeatureNumber::kAllowShortSeqnos:
      return "Allow Short Seqnos";
    case FeatureNumber::kSequenceWindow:
      return "Sequence Window";
    case FeatureNumber::kEcnIncapable:
      return "ECN Incapable";
    case FeatureNumber::kAckRatio:
      return "Ack Ratio";
    case FeatureNumber::kSendAckVector:
      return "Send Ack Vector";
    case FeatureNumber::kSendNdpCount:
      return "Send NDP Count";
    case FeatureNumber::kMinChecksumCoverage:
      return "Minimum Checksum Coverage";
    case FeatureNumber::kCheckDataChecksum:
      return "Check Data Checksum";
    case FeatureNumber::kSendRttEstimate:
      return "Send RTT Estimate";
    case FeatureNumber::kSendLossEventRate:
      return "Send Loss Event Rate";
  }
  return static_cast<unsigned>(feature) >= 128 ? "CCID-specific" : "?";
}

const char* ToString(State state) {
  switch (state) {
    case State::kClosed:
      return "CLOSED";
    case State::kListen:
      return "LISTEN";
    case State::kRequest:
      return "REQUEST";
    case State::kRespond:
      return "RESPOND";
    case State::kPartOpen:
      return "PARTOPEN";
    case State::kOpen:
      return "OPEN";
    case State::kCloseReq:
      return "CLOSEREQ";
    case State::kClosing:
      return "CLOSING";
    case State::kTimeWait:
      return "TIMEWAIT";
  }
  return "?";
}

const char* ToString(Ecn ecn) {
  switch (ecn) {
    case Ecn::kNotEct:
      return "Not-ECT";
    case Ecn::kEct1:
      return "ECT(1)";
    case Ecn::kEct0:
      return "ECT(0)";
    case Ecn::kCe:
      return "CE";
  }
  return "?";
}

}  // namespace dccp
