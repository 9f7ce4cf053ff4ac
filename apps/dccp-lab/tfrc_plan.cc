#include "apps/dccp-lab/tfrc_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/common/parse.h"
#include "ccid/common/tfrc_equation.h"

namespace dccp::apps::lab {

namespace {

using std::chrono::milliseconds;

double Milliseconds(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

std::vector<std::size_t> SizesOf(const TfrcPlan& plan, IpFamily family) {
  if (!plan.sizes.empty()) return plan.sizes;
  return {family == IpFamily::kV4 ? std::size_t{1440} : std::size_t{1420}, 256, 32};
}

// Kernel 2.6.25 through a NetEm box, kbit/s: by a router, by a bridge, by the equation of RFC 3448
// §3.1 without headers.
struct Published {
  int rtt_ms;
  double loss;
  IpFamily family;
  std::size_t payload_bytes;
  PublishedCell kbps;
};
constexpr std::array<Published, 18> kPublished = {{
    {40, 0.01, IpFamily::kV6, 1420, {3300, 3070, 3300}},
    {40, 0.01, IpFamily::kV6, 256, {658, 644, 602}},
    {40, 0.01, IpFamily::kV6, 32, {63, 63, 75}},
    {40, 0.01, IpFamily::kV4, 1440, {3500, 3260, 3400}},
    {40, 0.01, IpFamily::kV4, 256, {638, 600, 602}},
    {40, 0.01, IpFamily::kV4, 32, {73, 67, 75}},
    {150, 0.01, IpFamily::kV6, 1420, {826, 756, 891}},
    {150, 0.01, IpFamily::kV6, 256, {120, 148, 161}},
    {150, 0.01, IpFamily::kV6, 32, {18, 16, 20}},
    {150, 0.01, IpFamily::kV4, 1440, {714, 947, 904}},
    {150, 0.01, IpFamily::kV4, 256, {230, 131, 161}},
    {150, 0.01, IpFamily::kV4, 32, {20, 23, 20}},
    {150, 0.1, IpFamily::kV6, 1420, {130, 117, 132}},
    {150, 0.1, IpFamily::kV6, 256, {23, 28, 24}},
    {150, 0.1, IpFamily::kV6, 32, {3.8, 3.6, 3}},
    {150, 0.1, IpFamily::kV4, 1440, {221, 187, 134}},
    {150, 0.1, IpFamily::kV4, 256, {25, 50, 24}},
    {150, 0.1, IpFamily::kV4, 32, {3, 4, 3}},
}};

}  // namespace

std::optional<TfrcPath> ParseTfrcPath(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<Duration> rtt = ParseTime(text.substr(0, slash));
  const std::optional<double> loss = ParseLoss(text.substr(slash + 1));
  if (!rtt || *rtt < milliseconds(1) || *rtt > std::chrono::seconds(10)) return std::nullopt;
  if (!loss || *loss < 1e-5 || *loss > 0.5) return std::nullopt;
  return TfrcPath{*rtt, *loss};
}

std::string PathText(const TfrcPath& path) {
  return fmt::format("{:g}ms-{:g}%", Milliseconds(path.rtt), 100 * path.loss);
}

std::vector<TfrcPath> StandardPaths() {
  return {{milliseconds(40), 0.01}, {milliseconds(150), 0.01}, {milliseconds(150), 0.1}};
}

std::vector<TfrcPath> ExtendedPaths() {
  std::vector<TfrcPath> paths = StandardPaths();
  paths.insert(paths.end(), {{milliseconds(10), 0.01},
                             {milliseconds(40), 0.001},
                             {milliseconds(40), 0.05},
                             {milliseconds(100), 0.0005},
                             {milliseconds(100), 0.03},
                             {milliseconds(300), 0.01}});
  return paths;
}

double TfrcCell::EquationBps() const {
  return 8 * TfrcThroughput(static_cast<double>(payload_bytes), path.rtt, path.loss);
}

std::vector<TfrcCell> CellsOf(const TfrcPlan& plan) {
  std::vector<TfrcCell> cells;
  const auto add = [&](const std::string& topology, const TfrcPath& path, IpFamily family,
                       std::size_t size) {
    TfrcCell cell = {"", topology, family, size, path};
    cell.id = fmt::format("{}-v{}-{}-{}", topology, static_cast<int>(family), size, PathText(path));
    const bool wanted =
        plan.only.empty() ||
        std::any_of(plan.only.begin(), plan.only.end(), [&](const std::string& part) {
          return cell.id.find(part) != std::string::npos;
        });
    if (wanted) cells.push_back(std::move(cell));
  };
  for (const std::string& topology : plan.topologies)
    for (const TfrcPath& path : plan.paths)
      for (const IpFamily family : plan.families)
        for (const std::size_t size : SizesOf(plan, family)) add(topology, path, family, size);
  return cells;
}

std::uint64_t SeedOf(const TfrcPlan& plan, const TfrcCell& cell, std::size_t repeat) {
  // FNV-1a, so that a cell has its seeds whatever other cells there are.
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : cell.id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  hash = (hash ^ plan.seed) * 1099511628211u;
  hash = (hash ^ repeat) * 1099511628211u;
  // Short enough to be typed again.
  return (hash ^ (hash >> 32)) & 0xFFFFFFFFu;
}

Json PlanToJson(const TfrcPlan& plan) {
  return {{"command", "tfrc"},
          {"simulate", plan.simulate},
          {"seconds", plan.seconds},
          {"omit_s", plan.omit},
          {"seed", plan.seed}};
}

Json CellToJson(const TfrcPlan& plan, const TfrcCell& cell) {
  Json out = {{"id", cell.id},
              {"family", cell.family == IpFamily::kV4 ? 4 : 6},
              {"ccid", 3},
              {"payload_bytes", cell.payload_bytes},
              {"encap", cell.native() ? "native" : "udp"},
              {"seconds", plan.seconds},
              {"omit_s", plan.omit},
              {"seed", plan.seed},
              {"rtt_ms", Milliseconds(cell.path.rtt)},
              {"loss", cell.path.loss},
              {"topology", cell.topology},
              {"simulated", plan.simulate},
              {"measure", "sent"},
              {"equation_bps", cell.EquationBps()},
              {"published", nullptr}};
  if (const std::optional<PublishedCell> published = PublishedOf(cell))
    out["published"] = {{"router_bps", published->router},
                        {"bridge_bps", published->bridge},
                        {"equation_bps", published->equation}};
  return out;
}

double IntervalSeconds(const TfrcPlan& plan) {
  return std::max(1.0, std::ceil((plan.omit + plan.seconds) / 60));
}

std::optional<PublishedCell> PublishedOf(const TfrcCell& cell) {
  for (const Published& p : kPublished) {
    if (p.family != cell.family || p.payload_bytes != cell.payload_bytes ||
        p.loss != cell.path.loss || milliseconds(p.rtt_ms) != cell.path.rtt)
      continue;
    return PublishedCell{p.kbps.router * 1000, p.kbps.bridge * 1000, p.kbps.equation * 1000};
  }
  return std::nullopt;
}

}  // namespace dccp::apps::lab
