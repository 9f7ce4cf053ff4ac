// Sequence plots of a capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

// Two charts for each direction of a connection in which a good part of the data went: sequence
// numbers over time, with acknowledgements and losses, and the rate over time with the losses.
// Losses are those that the receiver reports: packets by Ack Vectors, loss events by Loss
// Intervals. In the form that report_figures.h tells. Nothing with `*error` where it cannot be read
// or has no DCCP; `*error` beside charts says what they leave out.
std::optional<Json> FiguresOfTrace(const std::string& path,
                                   const std::vector<std::uint16_t>& udp_ports, std::string* error);

}  // namespace dccp::apps::lab
