// The results as tables for people, and as JSON.
#pragma once

#include <span>
#include <string>

#include "stack/lab/cell.h"

namespace dccp::accuracy {

struct ReportHead {
  std::uint64_t first_seed = 1;
  double seconds = 0;
};

// One line a measure: mean, standard deviation, interval, target, verdict.
std::string TextReport(std::span<const lab::CellResult> results, const ReportHead& head);
// All single values too.
std::string JsonReport(std::span<const lab::CellResult> results, const ReportHead& head);
// Measures that have a target, and those that miss it.
struct Verdicts {
  std::size_t with_target = 0;
  std::size_t missed = 0;
};
Verdicts CountVerdicts(std::span<const lab::CellResult> results);

}  // namespace dccp::accuracy
