// The chart of rates over time.
#pragma once

#include <span>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

// Adds a chart with a choice for each cell whose runs have intervals: the rate of each run, their
// mean, the equation; below them the packets lost, and the loss event rate.
void AddRatesOverTime(std::span<const ReportSource> sources, Json* figures);

}  // namespace dccp::apps::lab
