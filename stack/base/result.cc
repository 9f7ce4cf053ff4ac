#include "dccp/result.h"

namespace dccp {

const char* ToString(Error error) {
  switch (error) {
    case Error::kInvalidArgument:
      return "invalid argument";
    case Error::kNoSuchConnection:
      return "no such connection";
    case Error::kNoSuchListener:
      return "no such listener";
    case Error::kNotConnected:
      return "the connection cannot send in its state";
    case Error::kMessageTooLarge:
      return "the datagram exceeds the maximum packet size";
    case Error::kQueueFull:
      return "the send queue is full";
    case Error::kNoBuffers:
      return "the memory budget is spent";
    case Error::kTooManyConnections:
      return "too many connections";
    case Error::kPortInUse:
      return "the port is in use";
    case Error::kNoPortAvailable:
      return "no local port is available";
    case Error::kUnsupportedCcid:
      return "the congestion control is not supported";
    case Error::kUnsupported:
      return "not supported";
    case Error::kBadState:
      return "not possible in this state";
    case Error::kSystem:
      return "a system call failed";
  }
  return "unknown error";
}

}  // namespace dccp
