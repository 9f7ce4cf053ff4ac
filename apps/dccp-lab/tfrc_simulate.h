// A run in virtual time.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/tfrc_plan.h"

namespace dccp::apps::lab {

// The endpoints' own code over a simulated path: what a run in real time tells, but for the
// processors. Null where `stop` said so. Nothing random but by the seed; any number at a time.
Json SimulateRun(const TfrcPlan& plan, const TfrcCell& cell, std::uint64_t seed,
                 const std::function<bool()>& stop);

}  // namespace dccp::apps::lab
