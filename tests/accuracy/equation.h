// CCID 3 over a path with random loss.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dccp/ccid3.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::accuracy {

struct EquationSetting {
  Duration rtt = std::chrono::milliseconds(40);
  double loss = 0.01;
  std::size_t payload_bytes = 1440;
  IpFamily family = IpFamily::kV4;
  double loss_events = 500;  // at least about so many after the first tenth of the run
  Ccid3Options options = {};
  // The receiver is like that of Linux: no Loss Intervals, no Elapsed Time, no Sender RTT Estimate.
  bool plain_receiver = false;
};

struct EquationFigures {
  double rate = 0;          // payload bytes a second
  double to_equation = 0;   // rate by the equation at the path's loss rate and round trip
  double to_current = 0;    // rate by the time average of the equation at the sender's p and R
  double disagreement = 0;  // |p of the sender / p of the receiver - 1|, mean over the feedback
  double loss_events = 0;   // after the first tenth
};

// How many data packets a run is expected to take.
double ExpectedPackets(const EquationSetting& setting);
EquationFigures MeasureEquation(const EquationSetting& setting, std::uint64_t seed);

}  // namespace dccp::accuracy
