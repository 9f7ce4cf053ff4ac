#include "tests/scenario/model_explorer.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

namespace dccp {
namespace {

using Run = std::vector<ModelChoice>;

std::string Explain(const ModelScenario& scenario, const Run& run, const std::string& fault) {
  ModelWorld world(scenario);
  std::string out = scenario.name + ": " + fault + ", after";
  for (const ModelChoice& choice : run) {
    out += "\n  " + world.Describe(choice);
    world.Apply(choice);
  }
  out += "\nthere: " + world.StateText();
  static_cast<void>(world.CheckFairFuture());
  return out + "\nend:   " + world.StateText();
}

}  // namespace

ModelResult Explore(const ModelScenario& scenario) {
  ModelResult result;
  std::unordered_set<std::uint64_t> seen;
  std::deque<Run> runs = {{}};
  while (!runs.empty()) {
    Run run = std::move(runs.front());
    runs.pop_front();
    ++result.transitions;
    ModelWorld world(scenario);
    for (const ModelChoice& choice : run) world.Apply(choice);
    if (!seen.insert(world.Fingerprint()).second) continue;
    result.depth = std::max(result.depth, run.size());
    if (run.size() < scenario.depth) {
      for (const ModelChoice& choice : world.Choices()) {
        runs.push_back(run);
        runs.back().push_back(choice);
      }
    }
    const std::string fault = world.CheckFairFuture();
    if (!fault.empty()) {
      result.fault = Explain(scenario, run, fault);
      break;
    }
  }
  result.states = seen.size();
  return result;
}

}  // namespace dccp
