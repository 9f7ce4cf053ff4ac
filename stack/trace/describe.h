// Pieces of text that more than one sink writes.
#pragma once

#include <string>

#include "dccp/trace.h"

namespace dccp {

// Seconds with nine decimals.
void AppendSeconds(std::string& out, std::int64_t nanoseconds);
// "3.1" (index and generation), or "-" for no connection.
void AppendConn(std::string& out, ConnId conn);
// "192.0.2.1", "2001:db8::1", "fe80::1%2".
void AppendAddress(std::string& out, const IpAddress& address);

inline const char* ToString(Direction d) { return d == Direction::kSent ? "sent" : "received"; }
inline const char* ToString(Encapsulation e) { return e == Encapsulation::kUdp ? "udp" : "native"; }
inline const char* ToString(FeatureLocation at) {
  return at == FeatureLocation::kLocal ? "local" : "remote";
}

}  // namespace dccp
