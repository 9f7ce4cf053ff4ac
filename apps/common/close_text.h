// Why a connection ended or never began, in one line.
#pragma once

#include <string>

#include "dccp/endpoint.h"

namespace dccp::apps {

// `peer` names the other end. `opened`: the connection had been open.
std::string CloseText(const CloseReason& close, const ConnectionInfo& info, const std::string& peer,
                      bool opened);

// The connection ended by a Close that was answered, whether or not data was left behind.
bool EndedByClose(const CloseReason& close);

}  // namespace dccp::apps
