#include "apps/dccp-lab/sizes_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace dccp::apps::lab {

std::vector<SizesCell> CellsOf(const SizesPlan& plan) {
  std::vector<SizesCell> cells;
  const auto add = [&](IpFamily family, int ccid, const std::string& encap, std::size_t size) {
    SizesCell cell = {"", family, ccid, encap, size};
    const std::string what = ccid == 0 ? "plain" : fmt::format("ccid{}-{}", ccid, encap);
    cell.id = fmt::format("v{}-{}-{}", static_cast<int>(family), what, size);
    const bool wanted =
        plan.only.empty() ||
        std::any_of(plan.only.begin(), plan.only.end(), [&](const std::string& part) {
          return cell.id.find(part) != std::string::npos;
        });
    if (wanted) cells.push_back(std::move(cell));
  };
  for (const IpFamily family : plan.families) {
    for (const std::size_t size : plan.sizes) {
      add(family, 0, "plain", size);
      for (const std::string& encap : plan.encaps)
        for (const int ccid : plan.ccids) add(family, ccid, encap, size);
    }
  }
  return cells;
}

Json PlanToJson(const SizesPlan& plan) {
  return {{"command", "sizes"}, {"seconds", plan.seconds}, {"omit_s", plan.omit}};
}

Json CellToJson(const SizesPlan& plan, const SizesCell& cell) {
  return {{"id", cell.id},
          {"family", cell.family == IpFamily::kV4 ? 4 : 6},
          {"ccid", cell.ccid == 0 ? Json(nullptr) : Json(cell.ccid)},
          {"payload_bytes", cell.payload_bytes},
          {"encap", cell.encap},
          {"seconds", plan.seconds},
          {"omit_s", plan.omit},
          {"seed", nullptr},
          {"rtt_ms", nullptr},
          {"loss", nullptr},
          {"topology", "loopback"}};
}

}  // namespace dccp::apps::lab
