// Throughput by payload size: which cells there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

struct SizesPlan {
  std::vector<std::size_t> sizes = {32, 128, 512, 1440, 8900};
  std::vector<int> ccids = {2, 3, 4};
  std::vector<IpFamily> families = {IpFamily::kV4, IpFamily::kV6};
  std::vector<std::string> encaps = {"udp", "native"};
  std::vector<std::string> only;  // parts of ids; empty: all cells
  double seconds = 3;
  double omit = 1;
  std::size_t repeat = 3;
};

struct SizesCell {
  std::string id;  // "v4-ccid2-udp-1440", "v6-plain-1440"
  IpFamily family = IpFamily::kV4;
  int ccid = 0;       // 0: the control, plain UDP
  std::string encap;  // "udp", "native", "plain"
  std::size_t payload_bytes = 0;
};

// Control cells come with every family and size, next to what they are compared with.
std::vector<SizesCell> CellsOf(const SizesPlan& plan);
// What has to be the same in a run that is resumed.
Json PlanToJson(const SizesPlan& plan);
Json CellToJson(const SizesPlan& plan, const SizesCell& cell);

}  // namespace dccp::apps::lab
