// The charts of a report, as data.
#pragma once

#include <span>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

// Charts of results: measured against the equation, rate over time, throughput and CPU by size;
// those that the results have figures for. Each is an object that report.js draws:
//
//   "id", "title", "note"
//   "wide": takes the whole width; "height": in pixels
//   "x", "y": axes: "title", "type" (linear, log, category), "zero", "range", "reversed", "ticks"
//   "panels": titles of further panels below the main one
//   "lines": of one "x" each; "bands": from "x0" to "x1", "quiet" for grey
//   "series", or "choices", of which the reader sees one: "label", "y_title", "bands", "series"
//
// A series has "name", "kind" (line, points, bars), "x", "y", and where wanted "error_x",
// "error_y", "color" (an index; -1 for references), "dash", "symbol", "step", "panel" (0 is the
// main one), "faint", "strong", "small", "quiet" (not in the legend).
Json FiguresOfResults(std::span<const ReportSource> sources);

}  // namespace dccp::apps::lab
