// CCID 3 against the throughput equation: which cells there are, and what was published of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"
#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

// A round trip, half of it each way, and the share of data packets that is lost at random.
struct TfrcPath {
  Duration rtt = Duration::zero();
  double loss = 0;
  bool operator==(const TfrcPath&) const = default;
};
// "40ms/1%". Nothing where that is no path with a throughput.
std::optional<TfrcPath> ParseTfrcPath(const std::string& text);
// "40ms-1%"
std::string PathText(const TfrcPath& path);

// The paths that were published, and those and more.
std::vector<TfrcPath> StandardPaths();
std::vector<TfrcPath> ExtendedPaths();

struct TfrcPlan {
  std::vector<std::string> topologies = {"relay"};  // "relay", "router", "bridge"
  std::vector<IpFamily> families = {IpFamily::kV6, IpFamily::kV4};
  std::vector<std::size_t> sizes;  // empty: those that were published, by family
  std::vector<TfrcPath> paths = StandardPaths();
  std::vector<std::string> only;  // parts of ids; empty: all cells
  double seconds = 300;           // of a run that count,
  double omit = 30;               // before that
  std::size_t repeat = 10;
  std::uint64_t seed = 1;
  bool simulate = false;
};

struct TfrcCell {
  std::string id;  // "relay-v4-1440-40ms-1%"
  std::string topology;
  IpFamily family = IpFamily::kV4;
  std::size_t payload_bytes = 0;
  TfrcPath path;

  // What the equation gives, in bits and in packets a second.
  double EquationBps() const;
  double EquationPackets() const { return EquationBps() / 8 / static_cast<double>(payload_bytes); }
  // Over the relay DCCP is in UDP, over a bridge or a router it is native.
  bool native() const { return topology != "relay"; }
};

std::vector<TfrcCell> CellsOf(const TfrcPlan& plan);
// The seed of one run: another for each cell and repeat.
std::uint64_t SeedOf(const TfrcPlan& plan, const TfrcCell& cell, std::size_t repeat);
// What has to be the same in a run that is resumed.
Json PlanToJson(const TfrcPlan& plan);
Json CellToJson(const TfrcPlan& plan, const TfrcCell& cell);
// Seconds between the points of the rate over time: at most 60 of them.
double IntervalSeconds(const TfrcPlan& plan);

// The measurement of 2008: one run of 20 s each, bits a second.
struct PublishedCell {
  double router = 0;
  double bridge = 0;
  double equation = 0;  // as it was worked out then
};
std::optional<PublishedCell> PublishedOf(const TfrcCell& cell);

}  // namespace dccp::apps::lab
