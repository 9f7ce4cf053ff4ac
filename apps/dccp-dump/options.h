// Options of a packet, decoded for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/dccp-dump/packet.h"

namespace dccp::apps {

// One JSON object an option: "type", "name" and what its value means; "malformed" where its length
// is wrong, "data" in hexadecimal where its meaning is not known. RFC 4340 §5.8
nlohmann::ordered_json OptionsToJson(const DumpPacket& packet);

// The same in one line of text, "" where there is none.
std::string OptionsToText(const DumpPacket& packet);

// Faults in the option area: malformed lengths, options on types where they mean nothing, a
// Mandatory before nothing. RFC 4340 §5.8, §5.8.2
void CheckOptions(const DumpPacket& packet, std::vector<std::string>* violations);

}  // namespace dccp::apps
