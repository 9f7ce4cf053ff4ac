// A setting that is measured with several seeds, and its verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stack/lab/statistics.h"

namespace dccp::lab {

// One figure of a cell and what is wanted of it. Without targets it is for information.
struct Measure {
  // What of the runs has to be within the limits.
  enum class Over : std::uint8_t { kMean, kEachRun };

  std::string name;
  std::optional<double> least = {};  // of the mean, or of each run
  std::optional<double> most = {};
  std::optional<double> precision = {};  // most that half_width / mean may be
  Over over = Over::kMean;
};

struct Cell {
  std::string section;
  std::string name;
  std::vector<Measure> measures;
  std::size_t seeds = 1;
  double cost = 1;  // of a run, in any unit: the dear ones begin first, and tell the time left
  // One value a measure. Runs on any thread; nothing random but by the seed.
  std::function<std::vector<double>(std::uint64_t seed)> run;
};

struct MeasureResult {
  std::vector<double> values;  // by run
  Estimate estimate;
  bool has_target = false;
  bool met = true;
};
struct CellResult {
  const Cell* cell = nullptr;
  std::vector<MeasureResult> measures;
  bool met() const;
};

// Judges the values of one measure.
MeasureResult Judge(const Measure& measure, std::vector<double> values);

struct CellRunConfig {
  std::uint64_t first_seed = 1;  // run i of each cell has seed first_seed + i
  std::size_t threads = 1;
  // After each run: the share of all work that is done, 0 to 1.
  std::function<void(double share)> progress = {};
};
// Results in the order of `cells`, which must outlive them.
std::vector<CellResult> RunCells(std::span<const Cell> cells, const CellRunConfig& config);

}  // namespace dccp::lab
