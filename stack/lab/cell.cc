#include "stack/lab/cell.h"

#include <algorithm>
#include <cmath>

#include "stack/lab/job_pool.h"

namespace dccp::lab {

bool CellResult::met() const {
  return std::all_of(measures.begin(), measures.end(),
                     [](const MeasureResult& m) { return m.met; });
}

MeasureResult Judge(const Measure& measure, std::vector<double> values) {
  MeasureResult result;
  result.values = std::move(values);
  result.estimate = EstimateOf(result.values);
  const Estimate& e = result.estimate;
  result.has_target = measure.least || measure.most || measure.precision;
  const bool each = measure.over == Measure::Over::kEachRun;
  const double low = each ? e.least : e.mean;
  const double high = each ? e.most : e.mean;
  // Written so that what is no number does not pass.
  if (measure.least) result.met &= low >= *measure.least;
  if (measure.most) result.met &= high <= *measure.most;
  if (measure.precision) result.met &= e.half_width <= *measure.precision * std::abs(e.mean);
  return result;
}

namespace {

struct Run {
  std::size_t cell;
  std::size_t index;
};

std::vector<Run> InOrderOfCost(std::span<const Cell> cells) {
  std::vector<Run> runs;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (std::size_t i = 0; i < cells[c].seeds; ++i) runs.push_back({c, i});
  }
  std::stable_sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    return cells[a.cell].cost > cells[b.cell].cost;
  });
  return runs;
}

}  // namespace

std::vector<CellResult> RunCells(std::span<const Cell> cells, const CellRunConfig& config) {
  const std::vector<Run> runs = InOrderOfCost(cells);
  std::vector<std::vector<std::vector<double>>> values(cells.size());
  double all_work = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    values[c].resize(cells[c].seeds);
    all_work += cells[c].cost * static_cast<double>(cells[c].seeds);
  }
  double done_work = 0;
  RunJobs(
      runs.size(), config.threads,
      [&](std::size_t job) {
        const Run& run = runs[job];
        values[run.cell][run.index] = cells[run.cell].run(config.first_seed + run.index);
      },
      [&](std::size_t job) {
        done_work += cells[runs[job].cell].cost;
        if (config.progress) config.progress(done_work / all_work);
      });

  std::vector<CellResult> results;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    CellResult result;
    result.cell = &cells[c];
    for (std::size_t m = 0; m < cells[c].measures.size(); ++m) {
      std::vector<double> of_measure;
      for (const std::vector<double>& run : values[c])
        of_measure.push_back(m < run.size() ? run[m] : std::nan(""));
      result.measures.push_back(Judge(cells[c].measures[m], std::move(of_measure)));
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace dccp::lab
