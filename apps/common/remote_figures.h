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

// Completes the report of the measuring end by what the peer counted after `base` (empty: from the
// start). `sending`: the measured flow left here.
void AddRemote(const RemoteFigures& end, const std::optional<RemoteFigures>& base, bool sending,
               EndReport* report);

}  // namespace dccp::apps
