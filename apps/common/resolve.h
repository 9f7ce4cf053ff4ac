// Names to addresses.
#pragma once

#include <string>
#include <vector>

#include "dccp/types.h"

namespace dccp::apps {

enum class FamilyChoice { kAny, kV4, kV6 };

// The addresses of a host in the system's order of preference. Blocks. Empty with `*error` filled
// when there are none.
std::vector<IpAddress> Resolve(const std::string& host, FamilyChoice family, std::string* error);

}  // namespace dccp::apps
