// The tables of a report, as HTML.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/dccp-lab/report_data.h"

namespace dccp::apps::lab {

std::string EscapeHtml(std::string_view text);

// Where, with what and how it was measured, and what the results sum up themselves.
std::string SourceTable(const ReportSource& source);
// Cells with an equation in the form of the published table: a table for each topology, a row for
// each path, a column for each family and size. "" where there are none.
std::string EquationTables(const ReportSource& source);
// A row for each cell, a column for each figure that any of them has.
std::string CellTable(const ReportSource& source);
// Verdicts of the second against the first. "" where they have no cell in common.
std::string ComparisonTable(const ReportSource& first, const ReportSource& second);

}  // namespace dccp::apps::lab
