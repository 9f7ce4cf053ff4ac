// Visits every state that a scenario can reach within its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/scenario/model_world.h"

namespace dccp {

struct ModelResult {
  std::size_t states = 0;       // distinct ones
  std::size_t transitions = 0;  // choices tried
  std::size_t depth = 0;        // of the longest run
  std::string fault;            // of the shortest run that has one, with its choices; empty: none
};

// Breadth first, so that the fault reported has the fewest choices. An endpoint cannot be copied: a
// state is kept as the choices that lead to it, and reached by making them again. States of equal
// fingerprint are visited once, at their least depth. From every state the fair future is checked.
ModelResult Explore(const ModelScenario& scenario);

}  // namespace dccp
