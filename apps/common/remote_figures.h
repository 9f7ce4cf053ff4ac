// The peer's figures as a control message, and their place in a report.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "apps/common/report.h"
#include "apps/common/session.h"

namespace dccp::apps {

nlohmann::json FiguresToJson(const RemoteFigures& figures);
// Empty where a number is missing or is none: the peer may send anything.
std::optional<RemoteFigures> FiguresFromJson(const nlohmann::json& answer);

// A non-negative number of a message, or `otherwise`.
double NumberOr(const nlohmann::json& object, const char* key, double otherwise);

// What this end knows of the whole flow, the omitted part included.
struct FlowTotals {
  bool sending = false;           // the measured flow left here
  std::uint64_t packets = 0;      // sent or received here, from the start
  std::uint64_t lost_before = 0;  // lost in the omitted part
};

// Completes the report of the measuring end by what the peer counted after `base` (empty: from the
// start). Loss comes from the totals of both ends: their figures at the moment when an omission
// ends do not belong to the same packets.
void AddRemote(const RemoteFigures& end, const std::optional<RemoteFigures>& base,
               const FlowTotals& totals, EndReport* report);

}  // namespace dccp::apps
