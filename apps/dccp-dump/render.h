// A packet as a JSON object, as chosen fields and as a line of text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/dccp-dump/packet.h"

namespace dccp::apps {

// Field names are a contract: added to, never renamed.
nlohmann::ordered_json PacketToJson(const DumpPacket& packet);

// Values of the named fields, tab-separated, "" where the packet has no such field. A dot reaches
// into an object: "reset.code".
std::string PacketToFields(const nlohmann::ordered_json& packet,
                           const std::vector<std::string>& fields);
// The names that PacketToFields knows.
bool IsField(const std::string& name);

std::string PacketToText(const DumpPacket& packet, std::int64_t origin_ns);

// Adds what is wrong with the packet by itself (the tracker adds what the flow shows).
void CheckPacket(DumpPacket* packet);

}  // namespace dccp::apps
