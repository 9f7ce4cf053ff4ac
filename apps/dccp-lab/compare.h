// Two sets of results side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// Welch's t-test of two means, and what it says at the 5 % level. B. L. Welch, 1947
struct Comparison {
  enum class Verdict { kNoDifference, kGreater, kLess, kTooFewRuns };

  double first = 0;  // means
  double second = 0;
  double difference = 0;  // second - first, within +- half_width at 95 %
  double half_width = 0;
  double degrees = 0;
  Verdict verdict = Verdict::kTooFewRuns;
};
Comparison Compare(std::span<const double> first, std::span<const double> second);

// One row of two files: a cell that both have, and one figure of it.
struct ComparedRow {
  std::string id;
  std::string figure;
  bool more_is_better = true;
  double scale = 1;  // of what is printed
  Comparison comparison;
  // "faster", "slower" or "no significant difference", of the second against the first.
  std::string verdict() const;
};
std::vector<ComparedRow> CompareResults(const Json& first, const Json& second);

std::string RowText(const ComparedRow& row);
Json RowToJson(const ComparedRow& row);

}  // namespace dccp::apps::lab
