#include <array>
#include <cstdio>
#include <string>

#include "tests/accuracy/equation.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {
namespace {

struct PathRow {
  int rtt_ms;
  double loss;
  std::size_t seeds;  // more where single runs scatter more
};
// The dear ones are those of little loss, which scatter least.
constexpr std::array<PathRow, 6> kPaths = {{{40, 0.01, 20},
                                            {150, 0.01, 20},
                                            {150, 0.1, 60},
                                            {10, 0.001, 20},
                                            {100, 0.0005, 20},
                                            {100, 0.03, 20}}};

struct PayloadRow {
  std::size_t bytes;
  IpFamily family;
};
constexpr std::array<PayloadRow, 4> kPayloads = {
    {{1440, IpFamily::kV4}, {1420, IpFamily::kV6}, {256, IpFamily::kV4}, {32, IpFamily::kV4}}};

std::string Name(const PathRow& path, const PayloadRow& payload) {
  std::array<char, 80> text;
  std::snprintf(text.data(), text.size(), "%d ms, %g %%, %zu bytes", path.rtt_ms, 100 * path.loss,
                payload.bytes);
  return text.data();
}

std::vector<lab::Measure> Measures(bool plain_receiver) {
  std::vector<lab::Measure> measures = {
      {.name = "rate, kbit/s"},
      {.name = "rate / equation", .least = 0.95, .most = 1.15, .precision = 0.02},
      {.name = "rate / equation at current p, R", .least = 0.93, .most = 1.03, .precision = 0.02},
      {.name = "difference of both ends' p", .most = 0.01},
      {.name = "loss events", .least = 500, .over = lab::Measure::Over::kEachRun}};
  if (plain_receiver) {
    // The sender sees only those that make p rise.
    measures.back() = {.name = "loss events that the sender saw"};
  }
  return measures;
}

lab::Cell CellOf(const std::string& name, const EquationSetting& setting, std::size_t seeds) {
  return {.section = "equation",
          .name = name,
          .measures = Measures(setting.plain_receiver),
          .seeds = seeds,
          .cost = ExpectedPackets(setting),
          .run = [setting](std::uint64_t seed) {
            const EquationFigures f = MeasureEquation(setting, seed);
            return std::vector<double>{f.rate * 8 / 1000, f.to_equation, f.to_current,
                                       f.disagreement, f.loss_events};
          }};
}

}  // namespace

std::vector<lab::Cell> EquationCells() {
  std::vector<lab::Cell> cells;
  for (const PathRow& path : kPaths) {
    for (const PayloadRow& payload : kPayloads) {
      EquationSetting setting;
      setting.rtt = std::chrono::milliseconds(path.rtt_ms);
      setting.loss = path.loss;
      setting.payload_bytes = payload.bytes;
      setting.family = payload.family;
      cells.push_back(CellOf(Name(path, payload), setting, path.seeds));
    }
  }
  for (const PathRow& path : {kPaths[0], kPaths[5]}) {
    EquationSetting setting;
    setting.rtt = std::chrono::milliseconds(path.rtt_ms);
    setting.loss = path.loss;
    setting.plain_receiver = true;
    cells.push_back(CellOf(Name(path, kPayloads[0]) + ", receiver as Linux", setting, path.seeds));
    setting.plain_receiver = false;
    setting.options.send_rtt_estimate = false;
    cells.push_back(CellOf(Name(path, kPayloads[0]) + ", no RFC 6323", setting, path.seeds));
  }
  return cells;
}

}  // namespace dccp::accuracy
