// The sections of the report: what is measured, and what is wanted.
#pragma once

#include <vector>

#include "stack/lab/cell.h"

namespace dccp::accuracy {

// Rates under random loss against the throughput equation; both ends' loss event rates.
std::vector<lab::Cell> EquationCells();
// Slow start, a step of the loss rate, silence.
std::vector<lab::Cell> DynamicsCells();
// How even the rates of the CCIDs are.
std::vector<lab::Cell> SmoothnessCells();
// Flows that share a bottleneck.
std::vector<lab::Cell> FairnessCells();
// One flow alone on a bottleneck.
std::vector<lab::Cell> UtilisationCells();
// A packet each 20 ms over a path that loses many.
std::vector<lab::Cell> VoiceCells();

}  // namespace dccp::accuracy
