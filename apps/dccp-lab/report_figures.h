// The charts of a report, as data.
#pragma once

#include <span>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

// Charts of results: measured against the equation, rate over time, throughput and CPU by size;
// those that the results have figures for. Each is an object that report.js draws:
//
//   "id", "title", "note", "wide" (takes the whole width), "height" (pixels),
//   "x", "y": { "title", "type" ("linear", "log", "category"), "zero", "reversed", "ticks", "range"
//   }, "panels": titles of further panels below, "lines": [ { "x" or "y", "label" } ], "bands": [ {
//   "x0", "x1" } ], "series": [ ... ], or "choices": [ { "label", "y_title", "series" } ], of which
//   the reader sees one.
//
// A series has "name", "kind" ("line", "points", "bars"), "x", "y", and where wanted "error_x",
// "error_y", "color" (index; -1: the reference), "dash", "symbol", "panel" (0 is the main one),
// "faint", "quiet" (not in the legend), "text".
Json FiguresOfResults(std::span<const ReportSource> sources);

}  // namespace dccp::apps::lab
