// Forwarding by frame size, on paper.
#pragma once

#include <string>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// The throughput of all cells, a line for each way through, a column for each frame size.
std::string ForwardMatrix(const Json& document);
// A line for each cell with everything.
std::string ForwardRows(const Json& document);

}  // namespace dccp::apps::lab
