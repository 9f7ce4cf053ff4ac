// The table of CCID 3 against the throughput equation.
#pragma once

#include <string>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// What a whole table says: how far means are from the equation, and those of 2008 from theirs.
Json TfrcSummary(const Json& document);
// One line a cell, the figures of 2008 beside them, and what the summary says.
std::string TfrcTable(const Json& document);

}  // namespace dccp::apps::lab
